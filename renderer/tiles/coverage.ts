/**
 * Finds out how much of a tile an archive covers.
 *
 * An archive of a part of the world has tiles that reach beyond its bounds. Some archives have everything there,
 * because their tiles were taken from all of the world. Others have nothing, because their tiles were made from an
 * extract.
 */
import type { Bounds, PixelBox } from '../types.js';
import { worldPixel, worldSizePx } from '../view/projection.js';
import { union } from './coordinates.js';
import { polygon, type TileFeature, type TileLayer, type VectorTile } from './vector-tile.js';

/** Share of the vertices that may lie outside on each side: a ferry or a border leaves an extract and reaches far. */
const strays = 0.01;
/** Contents that end nearer to the tile's edge reach it. Share of the tile's width. */
const nearEdge = 0.125;

const parts = new WeakMap<VectorTile, PixelBox | null>();

/**
 * Returns the covered part of a tile in shares of its width, or null for all of it. It contains the archive's bounds,
 * and what the tile contains beyond them.
 */
export function coveredPart(
  tile: VectorTile,
  zoom: number,
  x: number,
  y: number,
  bounds: Bounds | null,
): PixelBox | null {
  if (bounds === null) return null;
  let part = parts.get(tile);
  if (part === undefined) {
    const inside = boundsInTile(zoom, x, y, bounds);
    part = inside && reaching(union(inside, contentsOf(tile) ?? inside));
    parts.set(tile, part);
  }
  return part;
}

/** Returns the part of the tile inside the bounds; null if that is all or nothing. */
function boundsInTile(zoom: number, x: number, y: number, [west, south, east, north]: Bounds): PixelBox | null {
  const [left, top] = worldPixel([west, north], zoom);
  const [right, bottom] = worldPixel([east, south], zoom);
  const width = worldSizePx(zoom) / 2 ** zoom;
  const share = (px: number, tile: number) => Math.max(0, Math.min(1, px / width - tile));
  const box = { minX: share(left, x), minY: share(top, y), maxX: share(right, x), maxY: share(bottom, y) };
  const area = (box.maxX - box.minX) * (box.maxY - box.minY);
  return area > 0 && area < 1 ? box : null;
}

function reaching(box: PixelBox): PixelBox | null {
  const low = (share: number) => (share < nearEdge ? 0 : share);
  const high = (share: number) => (share > 1 - nearEdge ? 1 : share);
  const { minX, minY, maxX, maxY } = box;
  const part = { minX: low(minX), minY: low(minY), maxX: high(maxX), maxY: high(maxY) };
  return part.minX + part.minY === 0 && part.maxX + part.maxY === 2 ? null : part;
}

/** Returns the box of the contents without strays; null without contents. */
function contentsOf(tile: VectorTile): PixelBox | null {
  const [columns, rows] = [new Histogram(), new Histogram()];
  for (const layer of tile.layers.values()) {
    for (const feature of layer.features) {
      if (isEverywhere(feature, layer)) continue;
      const { xy } = feature.coordinates();
      for (let i = 0; i < xy.length; i += 2) {
        const [shareX, shareY] = [xy[i]! / layer.extent, xy[i + 1]! / layer.extent];
        if (shareX < 0 || shareX >= 1 || shareY < 0 || shareY >= 1) continue;
        columns.add(shareX);
        rows.add(shareY);
      }
    }
  }
  const [[minX, maxX], [minY, maxY]] = [columns.range(), rows.range()];
  return minX < maxX ? { minX, minY, maxX, maxY } : null;
}

/** Returns whether an area fills the tile, such as a sea, or the land below everything. */
function isEverywhere({ type, box }: TileFeature, { extent }: TileLayer): boolean {
  return type === polygon && box.minX <= 0 && box.minY <= 0 && box.maxX >= extent && box.maxY >= extent;
}

const bins = 256;

/** Counts shares, 0 to 1. */
class Histogram {
  private readonly counts = new Uint32Array(bins);
  private total = 0;

  add(share: number): void {
    this.counts[Math.floor(share * bins)]!++;
    this.total++;
  }

  /** Returns the range without strays; inside out when nothing was added. */
  range(): readonly [low: number, high: number] {
    const allowed = strays * this.total;
    let [low, high] = [0, bins];
    let skipped = this.counts[low]!;
    while (low < high && skipped <= allowed) skipped += this.counts[++low]!;
    skipped = this.counts[high - 1]!;
    while (high > low && skipped <= allowed) skipped += this.counts[--high - 1]!;
    return [low / bins, high / bins];
  }
}

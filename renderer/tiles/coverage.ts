/**
 * Finds out how much of a tile an archive covers.
 *
 * An archive of a part of the world has tiles that reach beyond its bounds. Some archives have everything there, because
 * their tiles come from one of the world. Others have nothing, because they were made from an extract.
 */

import type { Bounds, PixelBox } from '../types.js';
import { worldPixel, worldSizePx } from '../view/projection.js';
import { polygon, type TileFeature, type TileLayer, type VectorTile } from './vector-tile.js';

/** A tile with a smaller part beyond the bounds counts as inside. Share of the tile. */
const minBeyond = 0.01;
/** Vertices per area beyond the bounds, relative to those inside. A line that leaves an extract reaches far. */
const maxDensityBeyond = 0.03;

const shares = new WeakMap<VectorTile, PixelBox | null>();

/** Returns the covered part of a tile in shares of its width, or null for all of it. */
export function coveredPart(
  tile: VectorTile,
  zoom: number,
  x: number,
  y: number,
  bounds: Bounds | null,
): PixelBox | null {
  if (bounds === null) return null;
  let part = shares.get(tile);
  if (part === undefined) {
    const inside = boundsInTile(zoom, x, y, bounds);
    part = inside && isCut(tile, inside) ? inside : null;
    shares.set(tile, part);
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
  const area = areaOf(box);
  return area > 0 && area < 1 - minBeyond ? box : null;
}

const areaOf = ({ minX, minY, maxX, maxY }: PixelBox): number => (maxX - minX) * (maxY - minY);

function isCut(tile: VectorTile, box: PixelBox): boolean {
  let inside = 0;
  let beyond = 0;
  for (const layer of tile.layers.values()) {
    const { extent } = layer;
    for (const feature of layer.features) {
      if (isEverywhere(feature, layer)) continue;
      const { xy } = feature.coordinates();
      for (let i = 0; i < xy.length; i += 2) {
        const [shareX, shareY] = [xy[i]! / extent, xy[i + 1]! / extent];
        if (shareX < 0 || shareX > 1 || shareY < 0 || shareY > 1) continue;
        if (shareX >= box.minX && shareX <= box.maxX && shareY >= box.minY && shareY <= box.maxY) inside++;
        else beyond++;
      }
    }
  }
  const area = areaOf(box);
  return inside > 0 && beyond / (1 - area) <= (maxDensityBeyond * inside) / area;
}

/** Returns whether an area fills the tile, such as a sea, or the land below everything. */
function isEverywhere({ type, box }: TileFeature, { extent }: TileLayer): boolean {
  return type === polygon && box.minX <= 0 && box.minY <= 0 && box.maxX >= extent && box.maxY >= extent;
}

/** Finds the label anchor of an area: the pole of inaccessibility of its visible part. Pure. */
import { doubledArea, polygonParts } from '../../tiles/coordinates.js';
import { type PlanePoint, poleOfInaccessibility } from '../../tiles/pole-of-inaccessibility.js';
import type { TileFeature } from '../../tiles/vector-tile.js';
import type { PixelBox } from '../../types.js';
import type { VisibleTile } from '../candidates/visible-symbols.js';
import type { Point } from './polyline.js';

/** The visible part of an area within one tile. */
export interface VisibleArea {
  readonly tile: VisibleTile;
  /** The outer ring and its holes, clipped to the visible part of the tile. Tile units. */
  readonly rings: readonly Ring[];
  /** Area of the outer ring in square CSS pixels. */
  readonly size: number;
}

/** Alternating x and y coordinates, not closed. */
type Ring = readonly number[];

/** Text is wider than tall, so horizontal distances count half. */
const aspect = 2;

/** Areas narrower than a letter get no label. */
const minSidePx = 4;

/** Returns the largest part of a feature, or null when none is large enough for text. */
export function largestArea(feature: TileFeature, tile: VisibleTile): VisibleArea | null {
  let largest: VisibleArea | null = null;
  for (const rings of polygonParts(feature.coordinates())) {
    const [outer, ...holes] = rings.map((ring) => clipRing(ring, tile.box));
    if (!outer || !isWideEnough(outer, tile.unitPx)) continue;
    const size = (Math.abs(doubledArea(outer, 0, outer.length)) / 2) * tile.unitPx ** 2;
    if (!largest || size > largest.size)
      largest = { tile, rings: [outer, ...holes.filter((ring) => ring.length > 0)], size };
  }
  return largest;
}

/** Returns the anchor in CSS pixels of the image. */
export function pointInArea({ rings, tile }: VisibleArea): Point {
  const [x, y] = poleOfInaccessibility(
    rings.map((ring) => {
      const points: PlanePoint[] = [];
      for (let i = 0; i < ring.length; i += 2) {
        const [imageX, imageY] = tile.toImage(ring[i]!, ring[i + 1]!);
        points.push([imageX / aspect, imageY]);
      }
      return [...points, points[0]!];
    }),
  );
  return [x * aspect, y];
}

function isWideEnough(ring: Ring, unitPx: number): boolean {
  const sideOf = (offset: number) => {
    const values = ring.filter((_, i) => i % 2 === offset);
    return (
      (values.reduce((a, b) => Math.max(a, b), -Infinity) - values.reduce((a, b) => Math.min(a, b), Infinity)) * unitPx
    );
  };
  return sideOf(0) >= minSidePx && sideOf(1) >= minSidePx;
}

/** Clips a ring to a box (Sutherland–Hodgman). Returns an empty ring when nothing is left. */
export function clipRing(ring: Ring, { minX, minY, maxX, maxY }: PixelBox): Ring {
  let cut = clipSide(ring, 0, minX, 1);
  cut = clipSide(cut, 0, maxX, -1);
  cut = clipSide(cut, 1, minY, 1);
  return clipSide(cut, 1, maxY, -1);
}

/** Keeps the part on the `sign` side of `limit`, in the coordinate at this offset. */
function clipSide(ring: Ring, offset: 0 | 1, limit: number, sign: 1 | -1): Ring {
  const kept: number[] = [];
  for (let i = 0, last = ring.length - 2; i < ring.length; last = i, i += 2) {
    const before = sign * (ring[last + offset]! - limit);
    const now = sign * (ring[i + offset]! - limit);
    if (before >= 0 !== now >= 0) {
      const share = before / (before - now);
      kept.push(
        ring[last]! + share * (ring[i]! - ring[last]!),
        ring[last + 1]! + share * (ring[i + 1]! - ring[last + 1]!),
      );
    }
    if (now >= 0) kept.push(ring[i]!, ring[i + 1]!);
  }
  return kept;
}

/**
 * Tests whether a point is in a ring, exactly for all doubles. A point on a shared edge is inside both rings.
 */
import { orient2d } from 'robust-predicates';
import { gridAt, type Ring, runLength } from './edges.js';

/** Relation of an edge to the ray from the point to the east. */
const misses = 0;
const crosses = 1;
const holdsPoint = 2;

/** Tests whether the point, in the ring's frame, is inside the ring or on its boundary. */
export function contains(ring: Ring, x: number, y: number): boolean {
  if (x < ring.minX || x > ring.maxX || y < ring.minY || y > ring.maxY) return false;
  const { count, boxes } = ring;
  const gridX = gridAt(x, ring.minX, ring.maxX);
  const gridY = gridAt(y, ring.minY, ring.maxY);
  const length = runLength(count);
  let inside = false;
  for (let at = ring.boxesAt, from = 0; from < count; at += 4, from += length) {
    // Negative if any of the differences is negative: one branch instead of three unpredictable ones.
    if (((gridY - boxes[at + 1]!) | (boxes[at + 3]! - gridY) | (boxes[at + 2]! - gridX)) < 0) continue;
    const to = Math.min(from + length, count);
    const meeting = gridX < boxes[at]! ? straddle(ring, from, to, y) : meetRun(ring, from, to, x, y);
    if (meeting === holdsPoint) return true;
    if (meeting === crosses) inside = !inside;
  }
  return inside;
}

/** Tests a run that is wholly to the east: it crosses the ray an odd number of times if its ends are on both sides. */
function straddle({ points, first, count }: Ring, from: number, to: number, y: number): number {
  const start = points[first + 2 * from + 1]!;
  const end = points[to === count ? first + 1 : first + 2 * to + 1]!;
  return start > y !== end > y ? crosses : misses;
}

/** Tests the edges of a run: `crosses` if an odd number of them crosses. */
function meetRun({ points, first, count }: Ring, from: number, to: number, x: number, y: number): number {
  let odd = misses;
  let x0 = points[first + 2 * from]!;
  let y0 = points[first + 2 * from + 1]!;
  for (let vertex = from + 1; vertex <= to; vertex++) {
    const i = vertex === count ? first : first + 2 * vertex;
    const x1 = points[i]!;
    const y1 = points[i + 1]!;
    const meeting = meetRay(x0, y0, x1, y1, x, y);
    if (meeting === holdsPoint) return holdsPoint;
    odd ^= meeting;
    x0 = x1;
    y0 = y1;
  }
  return odd;
}

function meetRay(x0: number, y0: number, x1: number, y1: number, x: number, y: number): number {
  if ((y0 < y && y1 < y) || (y0 > y && y1 > y) || (x0 < x && x1 < x)) return misses;
  if (y0 === y && y1 === y) return x0 <= x || x1 <= x ? holdsPoint : misses;
  // An edge includes only its lower end, so that a ray through a vertex counts two edges, one or none correctly.
  const straddles = y0 > y !== y1 > y;
  if (x0 > x && x1 > x) return straddles ? crosses : misses;
  // The sign is negative if the point is left of the edge's direction.
  const turn = orient2d(x0, y0, x1, y1, x, y);
  if (turn === 0) return holdsPoint;
  return straddles && turn < 0 === y1 > y0 ? crosses : misses;
}

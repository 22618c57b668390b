/** Robust point in ring: exact for every double, and a point on an edge is inside for both rings that share the edge. */
import { orient2d } from 'robust-predicates';
import { bandAt, type Ring } from './edges.js';

/** What an edge does to the ray that runs from the point to the east. */
const misses = 0;
const crosses = 1;
const holdsPoint = 2;

/** Is the point, in the ring's frame, inside the ring or on it? */
export function contains(ring: Ring, x: number, y: number): boolean {
  if (x < ring.minX || x > ring.maxX || y < ring.minY || y > ring.maxY) return false;
  return ring.bandsAt < 0 ? containsPlain(ring, x, y) : containsBanded(ring, x, y);
}

function containsPlain(ring: Ring, x: number, y: number): boolean {
  const { points, first, count } = ring;
  let inside = false;
  let previous = first + 2 * count - 2;
  for (let i = first; i < first + 2 * count; i += 2) {
    const meeting = meetRay(points[previous]!, points[previous + 1]!, points[i]!, points[i + 1]!, x, y);
    if (meeting === holdsPoint) return true;
    if (meeting === crosses) inside = !inside;
    previous = i;
  }
  return inside;
}

function containsBanded(ring: Ring, x: number, y: number): boolean {
  const { points, first, count, bands, bandsAt } = ring;
  const bandCount = bands[bandsAt]!;
  const band = bandAt(y, ring.minY, ring.maxY, bandCount);
  const entries = bandsAt + 1 + bandCount;
  const end = entries + bands[bandsAt + 1 + band]!;
  let inside = false;
  for (let entry = band === 0 ? entries : entries + bands[bandsAt + band]!; entry < end; entry++) {
    const edge = bands[entry]!;
    const i = first + 2 * edge;
    const j = edge === count - 1 ? first : i + 2;
    const meeting = meetRay(points[i]!, points[i + 1]!, points[j]!, points[j + 1]!, x, y);
    if (meeting === holdsPoint) return true;
    if (meeting === crosses) inside = !inside;
  }
  return inside;
}

function meetRay(x0: number, y0: number, x1: number, y1: number, x: number, y: number): number {
  if ((y0 < y && y1 < y) || (y0 > y && y1 > y) || (x0 < x && x1 < x)) return misses;
  if (y0 === y && y1 === y) return x0 <= x || x1 <= x ? holdsPoint : misses;
  // An edge owns its lower end: a ray through a vertex crosses two edges, one, or none, as it should.
  const straddles = y0 > y !== y1 > y;
  if (x0 > x && x1 > x) return straddles ? crosses : misses;
  // The sign is negative where the point lies to the left of the edge's direction.
  const turn = orient2d(x0, y0, x1, y1, x, y);
  if (turn === 0) return holdsPoint;
  return straddles && turn < 0 === y1 > y0 ? crosses : misses;
}

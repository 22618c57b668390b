/**
 * Computes the distance from a point to a ring's edges in metres, up to latitude 79.
 *
 * An edge is straight in longitude and latitude. Its nearest point is found in a plane with the local scale at the
 * point, and the distance to it is computed at their mean latitude. The error of the first step is of second order; the
 * second step is exact near the point.
 */
import { gridAt, type Ring, runLength } from './edges.js';
import { latitudeReach, longitudeReach, offsetDistance, scaleRatio } from './scale.js';

/** Returns the distance in metres from the point, in the ring's frame, to the nearest edge. */
export function nearestEdge(ring: Ring, x: number, y: number): number {
  const { points, first, count } = ring;
  let least = Infinity;
  let previous = first + 2 * count - 2;
  for (let i = first; i < first + 2 * count; i += 2) {
    const [x0, y0, x1, y1] = [points[previous]! - x, points[previous + 1]! - y, points[i]! - x, points[i + 1]! - y];
    least = Math.min(least, edgeDistance(x0, y0, x1, y1, y));
    previous = i;
  }
  return least;
}

/**
 * Returns the distance in metres to an edge within `reachM`, or Infinity if there is none. Stops at the first such
 * edge, which need not be the nearest.
 */
export function edgeInReach(ring: Ring, x: number, y: number, reachM: number): number {
  const { count, boxes, minX, minY, maxX, maxY } = ring;
  const reachY = latitudeReach(reachM);
  const reachX = longitudeReach(y, reachM);
  const west = gridAt(x - reachX, minX, maxX);
  const east = gridAt(x + reachX, minX, maxX);
  const south = gridAt(y - reachY, minY, maxY);
  const north = gridAt(y + reachY, minY, maxY);
  const length = runLength(count);
  let least = Infinity;
  for (let at = ring.boxesAt, from = 0; from < count; at += 4, from += length) {
    if (boxes[at + 1]! > north || boxes[at + 3]! < south || boxes[at]! > east || boxes[at + 2]! < west) continue;
    const distanceM = runInReach(ring, from, Math.min(from + length, count), x, y, reachX, reachY, reachM);
    if (distanceM < reachM) return distanceM;
    if (distanceM === reachM) least = reachM;
  }
  return least;
}

function runInReach(
  { points, first, count }: Ring,
  from: number,
  to: number,
  x: number,
  y: number,
  reachX: number,
  reachY: number,
  reachM: number,
): number {
  let least = Infinity;
  let x0 = points[first + 2 * from]! - x;
  let y0 = points[first + 2 * from + 1]! - y;
  for (let vertex = from + 1; vertex <= to; vertex++) {
    const i = vertex === count ? first : first + 2 * vertex;
    const x1 = points[i]! - x;
    const y1 = points[i + 1]! - y;
    if (!liesAside(y0, y1, reachY) && !liesAside(x0, x1, reachX)) {
      const distanceM = edgeDistance(x0, y0, x1, y1, y);
      if (distanceM < reachM) return distanceM;
      if (distanceM === reachM) least = reachM;
    }
    x0 = x1;
    y0 = y1;
  }
  return least;
}

/** Tests whether both ends are beyond reach on the same side. */
const liesAside = (offset0: number, offset1: number, reach: number): boolean =>
  (offset0 > reach && offset1 > reach) || (offset0 < -reach && offset1 < -reach);

/** Returns the distance to an edge with ends (x0, y0) and (x1, y1) degrees from a point at `latitude`. */
function edgeDistance(x0: number, y0: number, x1: number, y1: number, latitude: number): number {
  const ratio = scaleRatio(latitude);
  const dx = x1 - x0;
  const dy = y1 - y0;
  const east = ratio * ratio * dx;
  const along = -(x0 * east + y0 * dy);
  if (along <= 0) return offsetDistance(latitude, x0, y0);
  const length = dx * east + dy * dy;
  if (along >= length) return offsetDistance(latitude, x1, y1);
  return offsetDistance(latitude, x0 + (along / length) * dx, y0 + (along / length) * dy);
}

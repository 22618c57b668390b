/**
 * Rings seen from a point above latitude 84, where an edge that is straight in longitude and latitude is a bent line on the
 * ground: it is projected about the point and followed by short straight pieces as far as the bend matters.
 */
import type { Ring } from './edges.js';
import { type Offset, project } from './scale.js';

/** Metres by which a piece may stray from its edge within reach. */
const toleranceM = 0.001;
/** Halvings of one edge: 180 degrees of longitude become pieces of 20 m at most. */
const maxDepth = 20;

/** Metres from the point to the nearest edge. */
export function nearestPolarEdge(ring: Ring, longitude: number, latitude: number): number {
  let reachM = Infinity;
  for (let i = ring.first; i < ring.first + 2 * ring.count; i += 2) {
    const { x, y } = project(latitude, ring.points[i]! - longitude, ring.points[i + 1]! - latitude);
    reachM = Math.min(reachM, Math.hypot(x, y));
  }
  const pieces = projectRing(ring, longitude, latitude, reachM);
  let least = reachM;
  let [x0, y0] = [pieces[pieces.length - 2]!, pieces[pieces.length - 1]!];
  for (let i = 0; i < pieces.length; i += 2) {
    const [x1, y1] = [pieces[i]!, pieces[i + 1]!];
    least = Math.min(least, segmentDistance(x0, y0, x1, y1));
    [x0, y0] = [x1, y1];
  }
  return least;
}

/** The ring as [x0, y0, x1, y1, …] metres about the point, true to its edges within `reachM` of it. */
export function projectRing(ring: Ring, longitude: number, latitude: number, reachM: number): Float64Array {
  const pieces: number[] = [];
  const offsetOf = (x: number, y: number): Offset => project(latitude, x - longitude, y - latitude);

  /** Adds the pieces from a to b, without a. `from`, `to`: the same points projected. */
  const follow = (ax: number, ay: number, bx: number, by: number, from: Offset, to: Offset, depth: number): void => {
    const [middleX, middleY] = [(ax + bx) / 2, (ay + by) / 2];
    const middle = offsetOf(middleX, middleY);
    const bend = Math.hypot(middle.x - (from.x + to.x) / 2, middle.y - (from.y + to.y) / 2);
    if (bend < toleranceM || depth === 0 || segmentDistance(from.x, from.y, to.x, to.y) > reachM + 2 * bend) {
      pieces.push(to.x, to.y);
      return;
    }
    follow(ax, ay, middleX, middleY, from, middle, depth - 1);
    follow(middleX, middleY, bx, by, middle, to, depth - 1);
  };

  const { points, first, count } = ring;
  let [x0, y0] = [points[first + 2 * count - 2]!, points[first + 2 * count - 1]!];
  let from = offsetOf(x0, y0);
  for (let i = first; i < first + 2 * count; i += 2) {
    const [x1, y1] = [points[i]!, points[i + 1]!];
    const to = offsetOf(x1, y1);
    follow(x0, y0, x1, y1, from, to, maxDepth);
    [x0, y0, from] = [x1, y1, to];
  }
  return Float64Array.from(pieces);
}

/** From the origin to a segment of the plane. */
function segmentDistance(x0: number, y0: number, x1: number, y1: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, -(x0 * dx + y0 * dy) / length));
  return Math.hypot(x0 + t * dx, y0 + t * dy);
}

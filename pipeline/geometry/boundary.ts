/**
 * Distance from a point to a ring's edges, metres, up to latitude 84.
 *
 * An edge is straight in longitude and latitude. Its nearest point is found in the plane of the local scale at the point, and
 * the distance to that is measured at their mean latitude: the first error is of second order, the second is none near the point.
 */
import { bandAt, type Ring } from './edges.js';
import { latitudeReach, latitudeScale, longitudeReach, longitudeScale, offsetDistance } from './scale.js';

/** Metres from the point, in the ring's frame, to the nearest edge. */
export function nearestEdge(ring: Ring, x: number, y: number): number {
  const { points, first, count } = ring;
  const scaleX = longitudeScale(y);
  const scaleY = latitudeScale(y);
  let least = Infinity;
  let previous = first + 2 * count - 2;
  for (let i = first; i < first + 2 * count; i += 2) {
    const [x0, y0, x1, y1] = [points[previous]! - x, points[previous + 1]! - y, points[i]! - x, points[i + 1]! - y];
    least = Math.min(least, edgeDistance(x0, y0, x1, y1, y, scaleX, scaleY));
    previous = i;
  }
  return least;
}

/**
 * Metres to the nearest edge if that is at most `reachM`, else Infinity. Stops early: of several edges nearer than `reachM`, any
 * may be the one that is answered. Reads only the bands in reach.
 */
export function edgeInReach(ring: Ring, x: number, y: number, reachM: number): number {
  const { points, first, count, bands, bandsAt, minY, maxY } = ring;
  const reachY = latitudeReach(reachM);
  const reachX = longitudeReach(y, reachM);
  const scaleX = longitudeScale(y);
  const scaleY = latitudeScale(y);

  // Without bands, or when the bands in reach list more than the whole ring has: every edge in turn.
  let entry = 0;
  let end = count;
  let listed = false;
  if (bandsAt >= 0) {
    const bandCount = bands[bandsAt]!;
    const from = bandAt(y - reachY, minY, maxY, bandCount);
    const to = bandAt(y + reachY, minY, maxY, bandCount);
    const entries = bandsAt + 1 + bandCount;
    const fromEntry = from === 0 ? 0 : bands[bandsAt + from]!;
    const toEntry = bands[bandsAt + 1 + to]!;
    if (toEntry - fromEntry < count) {
      entry = entries + fromEntry;
      end = entries + toEntry;
      listed = true;
    }
  }

  let least = Infinity;
  for (; entry < end; entry++) {
    const edge = listed ? bands[entry]! : entry;
    const i = first + 2 * edge;
    const j = edge === count - 1 ? first : i + 2;
    const y0 = points[i + 1]! - y;
    const y1 = points[j + 1]! - y;
    if ((y0 > reachY && y1 > reachY) || (y0 < -reachY && y1 < -reachY)) continue;
    const x0 = points[i]! - x;
    const x1 = points[j]! - x;
    if ((x0 > reachX && x1 > reachX) || (x0 < -reachX && x1 < -reachX)) continue;
    const distanceM = edgeDistance(x0, y0, x1, y1, y, scaleX, scaleY);
    if (distanceM < reachM) return distanceM;
    if (distanceM < least) least = distanceM;
  }
  return least <= reachM ? least : Infinity;
}

/** To an edge whose ends lie (x0, y0) and (x1, y1) degrees from a point at `latitude`; scales in metres per degree there. */
function edgeDistance(x0: number, y0: number, x1: number, y1: number, latitude: number, scaleX: number, scaleY: number): number {
  const dx = x1 - x0;
  const dy = y1 - y0;
  const east = scaleX * scaleX * dx;
  const north = scaleY * scaleY * dy;
  const along = -(x0 * east + y0 * north);
  if (along <= 0) return offsetDistance(latitude, x0, y0);
  const length = dx * east + dy * north;
  if (along >= length) return offsetDistance(latitude, x1, y1);
  return offsetDistance(latitude, x0 + (along / length) * dx, y0 + (along / length) * dy);
}

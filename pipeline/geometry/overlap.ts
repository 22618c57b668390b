/** Which share of a disc lies in a fence: exact in the plane, 0 to 1. Lengths in metres. */

/** The share of a disc of radius `discM` that lies in a circle of radius `circleM` whose centre is `distanceM` away. */
export function shareInCircle(distanceM: number, circleM: number, discM: number): number {
  if (discM === 0) return distanceM <= circleM ? 1 : 0;
  if (distanceM >= circleM + discM) return 0;
  if (distanceM <= Math.abs(circleM - discM)) return circleM >= discM ? 1 : (circleM / discM) ** 2;
  const lens = segmentArea(distanceM, circleM, discM) + segmentArea(distanceM, discM, circleM);
  return clamp(lens / (Math.PI * discM * discM));
}

/** The part of a disc of radius `a` beyond the common chord with a disc of radius `b`, `distance` away. */
function segmentArea(distance: number, a: number, b: number): number {
  const reach = (distance * distance + (a - b) * (a + b)) / (2 * distance);
  const product = (a + b - distance) * (distance + a - b) * (distance - a + b) * (distance + a + b);
  const halfChord = Math.sqrt(Math.max(0, product)) / (2 * distance);
  return a * a * Math.atan2(halfChord, reach) - reach * halfChord;
}

/**
 * The share of the disc of radius `discM` about (x, y) that lies in the ring `points[first, first + 2 * count)`, either winding.
 * `scaleX` and `scaleY`: metres per unit of the ring's coordinates.
 *
 * By Green's theorem: the area is half the sum, over the edges, of the cross products of their parts within the disc and of the
 * angles that their parts outside span, times the radius squared. Edges that lie wholly to one side of the disc follow one another
 * in long chains, of which only the two ends and the turns about the disc count.
 */
export function shareInRing(
  points: Float64Array,
  first: number,
  count: number,
  x: number,
  y: number,
  scaleX: number,
  scaleY: number,
  discM: number,
): number {
  let crosses = 0;
  let angles = 0;
  let chainStart = Number.NaN;
  let x0 = (points[first + 2 * count - 2]! - x) * scaleX;
  let y0 = (points[first + 2 * count - 1]! - y) * scaleY;
  for (let i = first; i < first + 2 * count; i += 2) {
    const x1 = (points[i]! - x) * scaleX;
    const y1 = (points[i + 1]! - y) * scaleY;
    if (liesAside(x0, y0, x1, y1, discM)) {
      if (Number.isNaN(chainStart)) chainStart = angleOf(x0, y0);
      if (x0 < 0 && y0 >= 0 !== y1 >= 0) angles += y0 >= 0 ? 2 * Math.PI : -2 * Math.PI;
    } else {
      if (!Number.isNaN(chainStart)) angles += angleOf(x0, y0) - chainStart;
      chainStart = Number.NaN;
      const [enter, leave] = partInDisc(x0, y0, x1, y1, discM);
      const [ax, ay] = [x0 + enter * (x1 - x0), y0 + enter * (y1 - y0)];
      const [bx, by] = [x0 + leave * (x1 - x0), y0 + leave * (y1 - y0)];
      if (enter < leave) {
        crosses += ax * by - bx * ay;
        if (enter > 0) angles += angleBetween(x0, y0, ax, ay);
        if (leave < 1) angles += angleBetween(bx, by, x1, y1);
      } else {
        angles += angleBetween(x0, y0, x1, y1);
      }
    }
    x0 = x1;
    y0 = y1;
  }
  if (!Number.isNaN(chainStart)) angles += angleOf(x0, y0) - chainStart;
  return clamp(Math.abs(crosses / (discM * discM) + angles) / (2 * Math.PI));
}

const liesAside = (x0: number, y0: number, x1: number, y1: number, radius: number): boolean =>
  (x0 > radius && x1 > radius) ||
  (x0 < -radius && x1 < -radius) ||
  (y0 > radius && y1 > radius) ||
  (y0 < -radius && y1 < -radius);

/** Where along the edge, 0 to 1, its part within the disc about the origin begins and ends; empty when not begin < end. */
function partInDisc(x0: number, y0: number, x1: number, y1: number, radius: number): [number, number] {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = Math.hypot(dx, dy);
  const offAxis = (x0 * y1 - x1 * y0) / length;
  const squared = (radius - offAxis) * (radius + offAxis);
  if (!(squared > 0)) return [0, 0];
  const foot = -(x0 * dx + y0 * dy) / length;
  const half = Math.sqrt(squared);
  return [Math.max(0, (foot - half) / length), Math.min(1, (foot + half) / length)];
}

/** Adding 0 makes -0 positive: the angle of a point on the negative axis is +pi, as `y >= 0` counts it. */
const angleOf = (x: number, y: number): number => Math.atan2(y + 0, x);

const angleBetween = (ax: number, ay: number, bx: number, by: number): number => Math.atan2(ax * by - bx * ay, ax * bx + ay * by);

const clamp = (share: number): number => Math.max(0, Math.min(1, share));

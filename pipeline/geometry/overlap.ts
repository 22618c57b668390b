/** Computes the share of a disc that is inside a fence, 0 to 1, exactly in the plane. Lengths are in metres. */
import { gridAt, type Ring, runLength } from './edges.js';

/** Returns the share of a disc of radius `discM` inside a circle of radius `circleM` at the distance `distanceM`. */
export function shareInCircle(distanceM: number, circleM: number, discM: number): number {
  if (discM === 0) return distanceM <= circleM ? 1 : 0;
  if (distanceM >= circleM + discM) return 0;
  if (distanceM <= Math.abs(circleM - discM)) return circleM >= discM ? 1 : (circleM / discM) ** 2;
  const lens = segmentArea(distanceM, circleM, discM) + segmentArea(distanceM, discM, circleM);
  return clamp(lens / (Math.PI * discM * discM));
}

/** Returns the area of a disc of radius `a` beyond the common chord with a disc of radius `b` at `distance`. */
function segmentArea(distance: number, a: number, b: number): number {
  const reach = (distance * distance + (a - b) * (a + b)) / (2 * distance);
  const product = (a + b - distance) * (distance + a - b) * (distance - a + b) * (distance + a + b);
  const halfChord = Math.sqrt(Math.max(0, product)) / (2 * distance);
  return a * a * Math.atan2(halfChord, reach) - reach * halfChord;
}

/**
 * Returns the share of the disc of radius `discM` about (x, y) inside a ring of either winding. `scaleX` and `scaleY`
 * are metres per unit of the ring's coordinates.
 *
 * Uses Green's theorem. Each edge contributes the cross product of its part inside the disc, and the angle that its
 * part outside spans, times the radius squared; the area is half the sum.
 */
export function shareInRing(ring: Ring, x: number, y: number, scaleX: number, scaleY: number, discM: number): number {
  const { points, first, count, boxes, minX, minY, maxX, maxY } = ring;
  const west = gridAt(x - discM / scaleX, minX, maxX);
  const east = gridAt(x + discM / scaleX, minX, maxX);
  const south = gridAt(y - discM / scaleY, minY, maxY);
  const north = gridAt(y + discM / scaleY, minY, maxY);
  const walk = new Walk((points[first]! - x) * scaleX, (points[first + 1]! - y) * scaleY, discM);
  const length = runLength(count);
  for (let at = ring.boxesAt, from = 0; from < count; at += 4, from += length) {
    const to = Math.min(from + length, count);
    const isAside = boxes[at]! > east || boxes[at + 2]! < west || boxes[at + 1]! > north || boxes[at + 3]! < south;
    // A run wholly on one side of the disc is one step.
    for (let vertex = isAside ? to : from + 1; vertex <= to; vertex++) {
      const i = vertex === count ? first : first + 2 * vertex;
      walk.step((points[i]! - x) * scaleX, (points[i + 1]! - y) * scaleY, isAside);
    }
  }
  return walk.share();
}

/**
 * Follows a ring around a disc at the origin. Consecutive steps on one side of the disc form chains, of which only the
 * ends and turns count.
 */
class Walk {
  private crosses = 0;
  private angles = 0;
  /** The angle at the start of the current chain. */
  private chainStart: number | undefined;

  constructor(
    private x: number,
    private y: number,
    private readonly radius: number,
  ) {}

  /** Moves to the next vertex, or past several vertices that are on one side of the disc. */
  step(x: number, y: number, isAside: boolean): void {
    if (isAside || liesAside(this.x, this.y, x, y, this.radius)) {
      this.chainStart ??= angleOf(this.x, this.y);
      if (this.x < 0 && this.y >= 0 !== y >= 0) this.angles += this.y >= 0 ? 2 * Math.PI : -2 * Math.PI;
    } else {
      this.endChain();
      this.cross(x, y);
    }
    this.x = x;
    this.y = y;
  }

  /** Returns the share after the last step to the first vertex. */
  share(): number {
    this.endChain();
    return clamp(Math.abs(this.crosses / (this.radius * this.radius) + this.angles) / (2 * Math.PI));
  }

  private endChain(): void {
    if (this.chainStart !== undefined) this.angles += angleOf(this.x, this.y) - this.chainStart;
    this.chainStart = undefined;
  }

  private cross(x: number, y: number): void {
    const [dx, dy] = [x - this.x, y - this.y];
    const [enter, leave] = partInDisc(this.x, this.y, x, y, this.radius);
    if (enter >= leave) {
      this.angles += angleBetween(this.x, this.y, x, y);
      return;
    }
    const [enterX, enterY] = [this.x + enter * dx, this.y + enter * dy];
    const [leaveX, leaveY] = [this.x + leave * dx, this.y + leave * dy];
    this.crosses += enterX * leaveY - leaveX * enterY;
    if (enter > 0) this.angles += angleBetween(this.x, this.y, enterX, enterY);
    if (leave < 1) this.angles += angleBetween(leaveX, leaveY, x, y);
  }
}

const liesAside = (x0: number, y0: number, x1: number, y1: number, radius: number): boolean =>
  (x0 > radius && x1 > radius) ||
  (x0 < -radius && x1 < -radius) ||
  (y0 > radius && y1 > radius) ||
  (y0 < -radius && y1 < -radius);

/**
 * Returns where, from 0 to 1 along the edge, its part inside the disc begins and ends. The part is empty unless begin <
 * end.
 */
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

/** Adds 0 to make -0 positive: the angle of a point on the negative axis is +pi, consistent with `y >= 0`. */
const angleOf = (x: number, y: number): number => Math.atan2(y + 0, x);

const angleBetween = (ax: number, ay: number, bx: number, by: number): number =>
  Math.atan2(ax * by - bx * ay, ax * bx + ay * by);

const clamp = (share: number): number => Math.max(0, Math.min(1, share));

/** A line with distances measured from its start. Pure. */

/** Two coordinates, in the unit of the line that they belong to. */
export type Point = readonly [x: number, y: number];

/** Returns the length of a line whose vertices alternate x and y. */
export function lengthOf(xy: readonly number[]): number {
  let sum = 0;
  for (let i = 2; i < xy.length; i += 2) sum += distance(xy[i]! - xy[i - 2]!, xy[i + 1]! - xy[i - 1]!);
  return sum;
}

/** Returns the length of a vector. Math.hypot takes ten times as long, because it allows for huge numbers. */
export const distance = (dx: number, dy: number): number => Math.sqrt(dx * dx + dy * dy);

/** A line that is asked for positions by their distance from its start. */
export class Polyline {
  /** Distance of each vertex from the start. */
  private readonly distances: readonly number[];

  /** `xy` alternates x and y of at least two vertices. */
  constructor(readonly xy: readonly number[]) {
    const distances = [0];
    let travelled = 0;
    for (let i = 2; i < xy.length; i += 2) {
      travelled += distance(xy[i]! - xy[i - 2]!, xy[i + 1]! - xy[i - 1]!);
      distances.push(travelled);
    }
    this.distances = distances;
  }

  /** Returns the length in the unit of the coordinates. */
  get length(): number {
    return this.distances[this.distances.length - 1]!;
  }

  /** Returns the point at a distance from the start, clamped to the line's ends. */
  at(way: number): Point {
    const i = this.segmentAt(way);
    const length = this.distances[i + 1]! - this.distances[i]!;
    const share = length === 0 ? 0 : Math.max(0, Math.min(1, (way - this.distances[i]!) / length));
    const x = this.xy[2 * i]!;
    const y = this.xy[2 * i + 1]!;
    return [x + share * (this.xy[2 * i + 2]! - x), y + share * (this.xy[2 * i + 3]! - y)];
  }

  /** Returns the direction in radians, clockwise on the screen; 0 points right. */
  directionAt(way: number): number {
    const i = this.segmentAt(way);
    return Math.atan2(this.xy[2 * i + 3]! - this.xy[2 * i + 1]!, this.xy[2 * i + 2]! - this.xy[2 * i]!);
  }

  /** Returns whether a vertex between two distances is farther than this from the straight line through two points. */
  leaves([startX, startY]: Point, [endX, endY]: Point, from: number, to: number, tolerance: number): boolean {
    const [dx, dy] = [endX - startX, endY - startY];
    const length = distance(dx, dy);
    for (let i = this.segmentAt(from) + 1; i < this.distances.length && this.distances[i]! < to; i++) {
      if (this.distances[i]! <= from) continue;
      const [x, y] = [this.xy[2 * i]! - startX, this.xy[2 * i + 1]! - startY];
      if ((length === 0 ? distance(x, y) : Math.abs(x * dy - y * dx) / length) > tolerance) return true;
    }
    return false;
  }

  /** Returns the index of the last segment that starts at or before this distance. */
  private segmentAt(way: number): number {
    let low = 0;
    let high = this.distances.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.distances[middle]! <= way) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

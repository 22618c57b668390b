/** A line with distances measured from its start. Pure. */

export type Point = readonly [x: number, y: number];

export class Polyline {
  /** Distance of each vertex from the start. */
  private readonly distances: readonly number[];

  /** `xy` alternates x and y of at least two vertices. */
  constructor(readonly xy: readonly number[]) {
    const distances = [0];
    let distance = 0;
    for (let i = 2; i < xy.length; i += 2) {
      distance += Math.hypot(xy[i]! - xy[i - 2]!, xy[i + 1]! - xy[i - 1]!);
      distances.push(distance);
    }
    this.distances = distances;
  }

  get length(): number {
    return this.distances[this.distances.length - 1]!;
  }

  /** Returns the point at a distance from the start, clamped to the line's ends. */
  at(distance: number): Point {
    const i = this.segmentAt(distance);
    const length = this.distances[i + 1]! - this.distances[i]!;
    const share = length === 0 ? 0 : Math.max(0, Math.min(1, (distance - this.distances[i]!) / length));
    const x = this.xy[2 * i]!;
    const y = this.xy[2 * i + 1]!;
    return [x + share * (this.xy[2 * i + 2]! - x), y + share * (this.xy[2 * i + 3]! - y)];
  }

  /** Returns the direction in radians, clockwise on the screen; 0 points right. */
  directionAt(distance: number): number {
    const i = this.segmentAt(distance);
    return Math.atan2(this.xy[2 * i + 3]! - this.xy[2 * i + 1]!, this.xy[2 * i + 2]! - this.xy[2 * i]!);
  }

  /** Returns whether a vertex between two distances is farther than this from the straight line through two points. */
  leaves([startX, startY]: Point, [endX, endY]: Point, from: number, to: number, tolerance: number): boolean {
    const [dx, dy] = [endX - startX, endY - startY];
    const length = Math.hypot(dx, dy);
    for (let i = this.segmentAt(from) + 1; i < this.distances.length && this.distances[i]! < to; i++) {
      if (this.distances[i]! <= from) continue;
      const [x, y] = [this.xy[2 * i]! - startX, this.xy[2 * i + 1]! - startY];
      if ((length === 0 ? Math.hypot(x, y) : Math.abs(x * dy - y * dx) / length) > tolerance) return true;
    }
    return false;
  }

  /** Returns the index of the last segment that starts at or before this distance. */
  private segmentAt(distance: number): number {
    let low = 0;
    let high = this.distances.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.distances[middle]! <= distance) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

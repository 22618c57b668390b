/** A line that is measured from its begin. Pure. */

export type Point = readonly [x: number, y: number];

export class Polyline {
  /** How far each vertex is from the begin. */
  private readonly distances: Float64Array;

  /** `xy` is x and y in turn, of two vertices or more. */
  constructor(readonly xy: readonly number[]) {
    this.distances = new Float64Array(xy.length / 2);
    for (let i = 1; i < this.distances.length; i++) {
      const step = Math.hypot(xy[2 * i]! - xy[2 * i - 2]!, xy[2 * i + 1]! - xy[2 * i - 1]!);
      this.distances[i] = this.distances[i - 1]! + step;
    }
  }

  get length(): number {
    return this.distances[this.distances.length - 1]!;
  }

  /** The point at a distance from the begin; the nearer end where the line doesn't reach so far. */
  at(distance: number): Point {
    const i = this.segmentAt(distance);
    const length = this.distances[i + 1]! - this.distances[i]!;
    const share = length === 0 ? 0 : Math.max(0, Math.min(1, (distance - this.distances[i]!) / length));
    const x = this.xy[2 * i]!;
    const y = this.xy[2 * i + 1]!;
    return [x + share * (this.xy[2 * i + 2]! - x), y + share * (this.xy[2 * i + 3]! - y)];
  }

  /** In radians, clockwise on the screen from that to the right. */
  directionAt(distance: number): number {
    const i = this.segmentAt(distance);
    return Math.atan2(this.xy[2 * i + 3]! - this.xy[2 * i + 1]!, this.xy[2 * i + 2]! - this.xy[2 * i]!);
  }

  /** The vertices that lie between two distances. */
  between(from: number, to: number): Point[] {
    const vertices: Point[] = [];
    for (let i = this.segmentAt(from) + 1; i < this.distances.length && this.distances[i]! < to; i++) {
      if (this.distances[i]! > from) vertices.push([this.xy[2 * i]!, this.xy[2 * i + 1]!]);
    }
    return vertices;
  }

  /** The number of the last segment that begins at this distance or before. */
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

/**
 * Finds where a ring crosses or touches itself: the sweep of Shamos and Hoey with exact predicates, O(n log n) for any
 * shape.
 *
 * A line sweeps the vertices from west to east, and from south to north at equal longitudes, as if it leaned slightly,
 * so that no edge is parallel to it. The edges that meet the line are kept in order. Two edges that meet become
 * neighbours in that order before the sweep passes their westernmost common point, so only neighbours are tested.
 */
import { orient2d } from 'robust-predicates';

/** Two edges by number: edge e runs from vertex e to vertex e + 1, the last one back to vertex 0. */
type EdgePair = readonly [number, number];

/**
 * Returns two edges that meet elsewhere than at a shared vertex, if any. `points` is [x0, y0, x1, y1, …] without
 * repeated vertices.
 */
export function findSelfIntersection(points: Float64Array): EdgePair | undefined {
  return new Sweep(points).run();
}

class Sweep {
  private readonly count: number;
  /** Edges that meet the line, from south to north. */
  private readonly active: number[] = [];

  constructor(private readonly points: Float64Array) {
    this.count = points.length / 2;
  }

  run(): EdgePair | undefined {
    const order = Array.from({ length: this.count }, (_, vertex) => vertex).sort((a, b) => this.compare(a, b));
    for (let i = 0; i < order.length; i++) {
      const vertex = order[i]!;
      if (i > 0 && this.compare(order[i - 1]!, vertex) === 0) return [order[i - 1]!, vertex];
      const meeting = this.pass(vertex);
      if (meeting) return meeting;
    }
    return undefined;
  }

  /** Moves the line over a vertex: removes its edges to the west, adds those to the east. */
  private pass(vertex: number): EdgePair | undefined {
    const previous = (vertex + this.count - 1) % this.count;
    const previousEnters = this.compare(vertex, previous) < 0;
    const nextEnters = this.compare(vertex, this.next(vertex)) < 0;
    if (previousEnters && nextEnters) return this.enterBoth(vertex, previous);
    if (!previousEnters && !nextEnters) return this.leave(vertex) ?? this.leave(previous);
    return previousEnters ? this.replace(vertex, previous) : this.replace(previous, vertex);
  }

  private enterBoth(vertex: number, previous: number): EdgePair | undefined {
    let low = 0;
    let high = this.active.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const edge = this.active[middle]!;
      const side = this.side(this.west(edge), this.east(edge), vertex);
      if (side === 0) return [edge, vertex];
      if (side > 0) low = middle + 1;
      else high = middle;
    }
    const turn = this.side(vertex, this.next(vertex), previous);
    if (turn === 0) return [previous, vertex];
    if (turn > 0) this.active.splice(low, 0, vertex, previous);
    else this.active.splice(low, 0, previous, vertex);
    return this.meeting(low - 1) ?? this.meeting(low + 1);
  }

  private leave(edge: number): EdgePair | undefined {
    const at = this.active.indexOf(edge);
    this.active.splice(at, 1);
    return this.meeting(at - 1);
  }

  private replace(leaving: number, entering: number): EdgePair | undefined {
    const at = this.active.indexOf(leaving);
    this.active[at] = entering;
    return this.meeting(at - 1) ?? this.meeting(at);
  }

  /** Returns the neighbours at `at` and `at + 1` if they meet. */
  private meeting(at: number): EdgePair | undefined {
    const a = this.active[at];
    const b = this.active[at + 1];
    return a !== undefined && b !== undefined && this.meet(a, b) ? [a, b] : undefined;
  }

  private meet(a: number, b: number): boolean {
    const [a0, a1, b0, b1] = [this.west(a), this.east(a), this.west(b), this.east(b)];
    // Edges with a common vertex meet elsewhere only if they overlap.
    if (a0 === b0) return this.side(a0, a1, b1) === 0;
    if (a1 === b1) return this.side(a0, a1, b0) === 0;
    if (a1 === b0 || b1 === a0) return false;
    // Both edges meet the sweep line, so their longitudes overlap: collinear edges meet.
    const [fromA0, fromA1] = [this.side(b0, b1, a0), this.side(b0, b1, a1)];
    const [fromB0, fromB1] = [this.side(a0, a1, b0), this.side(a0, a1, b1)];
    return fromA0 * fromA1 <= 0 && fromB0 * fromB1 <= 0;
  }

  /** Returns 1 if `vertex` is left of the direction from one vertex to another, -1 if right, 0 if on the line. */
  private side(from: number, to: number, vertex: number): number {
    const p = this.points;
    const x = p[2 * vertex]!;
    const y = p[2 * vertex + 1]!;
    return -Math.sign(orient2d(p[2 * from]!, p[2 * from + 1]!, p[2 * to]!, p[2 * to + 1]!, x, y));
  }

  /** Compares two vertices in the order of the sweep. */
  private compare(a: number, b: number): number {
    return this.points[2 * a]! - this.points[2 * b]! || this.points[2 * a + 1]! - this.points[2 * b + 1]!;
  }

  private next(vertex: number): number {
    return vertex + 1 === this.count ? 0 : vertex + 1;
  }

  private west(edge: number): number {
    return this.compare(edge, this.next(edge)) < 0 ? edge : this.next(edge);
  }

  private east(edge: number): number {
    return this.compare(edge, this.next(edge)) < 0 ? this.next(edge) : edge;
  }
}

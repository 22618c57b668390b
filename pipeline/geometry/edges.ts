/**
 * Defines rings in packed form, with an index for large ones: boxes around runs of consecutive edges.
 *
 * Edge e runs from vertex e to vertex e + 1, the last one back to vertex 0. A query scans the boxes of all runs, 32 for
 * 2,000 vertices, and then only the edges of one or two runs, for rings of any shape. A box takes four 16-bit integers:
 * its sides, rounded down to 65,536ths of the ring's own box. Rounding keeps order, so sides that differ after rounding
 * differ before it. Coordinates stay exact.
 */

/** A view of one unwrapped ring and its boxes within larger arrays. Degrees, in the ring's own frame. */
export interface Ring {
  points: Float64Array;
  /** Index of the first vertex's longitude in `points`. */
  first: number;
  /** Number of vertices; the first is not repeated. */
  count: number;
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
  /** Per run [minX, minY, maxX, maxY], see {@link gridAt}. */
  boxes: Uint16Array;
  /** Index of the first run in `boxes`. */
  boxesAt: number;
}

const cells = 65_536;

/** Returns the number of edges in a run (fewer in the last), about the square root of all edges. */
export const runLength = (count: number): number => (count <= 48 ? 4 : count <= 512 ? 16 : 64);

/** Returns the 65,536th (0 to 65,535) of a range that contains a value, clamped. Monotonic. */
export function gridAt(value: number, min: number, max: number): number {
  const cell = ((value - min) / (max - min)) * cells;
  return cell <= 0 ? 0 : cell >= cells ? cells - 1 : Math.floor(cell);
}

/** Creates a ring with its own arrays. */
export function ringOf(points: Float64Array): Ring {
  const box = boundsOf(points);
  const [minX, minY, maxX, maxY] = box;
  return {
    points,
    first: 0,
    count: points.length / 2,
    minX,
    minY,
    maxX,
    maxY,
    boxes: boxRuns(points, box),
    boxesAt: 0,
  };
}

/** Writes the boxes of all runs of a ring with the given box. */
export function boxRuns(
  points: Float64Array,
  [minX, minY, maxX, maxY]: readonly [number, number, number, number],
): Uint16Array {
  const count = points.length / 2;
  const length = runLength(count);
  const boxes = new Uint16Array(4 * Math.ceil(count / length));
  for (let at = 0, from = 0; from < count; at += 4, from += length) {
    const [west, south, east, north] = boundsOf(points, from, Math.min(length, count - from) + 1);
    boxes[at] = gridAt(west, minX, maxX);
    boxes[at + 1] = gridAt(south, minY, maxY);
    boxes[at + 2] = gridAt(east, minX, maxX);
    boxes[at + 3] = gridAt(north, minY, maxY);
  }
  return boxes;
}

/** Returns [minX, minY, maxX, maxY] of `length` vertices from `from`, continuing with the first after the last. */
export function boundsOf(points: Float64Array, from = 0, length = points.length / 2): [number, number, number, number] {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let vertex = from; vertex < from + length; vertex++) {
    const i = (2 * vertex) % points.length;
    minX = Math.min(minX, points[i]!);
    maxX = Math.max(maxX, points[i]!);
    minY = Math.min(minY, points[i + 1]!);
    maxY = Math.max(maxY, points[i + 1]!);
  }
  return [minX, minY, maxX, maxY];
}

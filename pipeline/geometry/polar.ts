/**
 * Computes distances and projections of rings above latitude 79, where an edge that is straight in longitude and
 * latitude is curved on the ground. Edges are projected around the point and halved until a piece is straight enough.
 *
 * A piece deviates from the chord between its ends by about the distance of their midpoints. Twice that is the bound.
 */
import type { Ring } from './edges.js';
import { type Offset, project } from './scale.js';

/** Tolerance of a distance, metres. */
const toleranceM = 0.001;
/** Tolerance of a share, relative to the disc's radius. */
const shareTolerance = 1e-5;
/** Maximum number of halvings of an edge: 180 degrees of longitude become pieces of at most 20 m. */
const maxDepth = 20;

/** A part of an edge: its ends in degrees from the point, and their projections. */
interface Piece {
  readonly eastward0: number;
  readonly northward0: number;
  readonly eastward1: number;
  readonly northward1: number;
  readonly from: Offset;
  readonly to: Offset;
}

/**
 * Returns the distance from the point to the nearest edge, metres. Skips pieces that cannot be nearer than the nearest
 * point so far, which is a vertex at first.
 */
export function nearestPolarEdge(ring: Ring, longitude: number, latitude: number): number {
  let least = Infinity;
  const search = (piece: Piece, depth: number): void => {
    const { from, to } = piece;
    const middle = middleOf(piece, latitude);
    const bend = bendAt(piece, middle);
    const chordM = segmentDistance(from, to);
    if (chordM - 2 * bend >= least) return;
    if (bend < toleranceM || depth === 0) {
      least = Math.min(least, chordM);
      return;
    }
    const [first, second] = halve(piece, middle);
    const firstIsNearer = Math.hypot(from.x, from.y) < Math.hypot(to.x, to.y);
    search(firstIsNearer ? first : second, depth - 1);
    search(firstIsNearer ? second : first, depth - 1);
  };
  const pieces = [...edges(ring, longitude, latitude)];
  for (const { to } of pieces) least = Math.min(least, Math.hypot(to.x, to.y));
  for (const piece of pieces) search(piece, maxDepth);
  return least;
}

/** Returns the ring as [x0, y0, x1, y1, …] in metres around the point, accurate within `reachM` of it. */
export function projectRing(ring: Ring, longitude: number, latitude: number, reachM: number): Float64Array {
  const points: number[] = [];
  const follow = (piece: Piece, depth: number): void => {
    const { from, to } = piece;
    const middle = middleOf(piece, latitude);
    const bend = bendAt(piece, middle);
    if (bend < shareTolerance * reachM || depth === 0 || segmentDistance(from, to) > reachM + 2 * bend) {
      points.push(to.x, to.y);
      return;
    }
    const [first, second] = halve(piece, middle);
    follow(first, depth - 1);
    follow(second, depth - 1);
  };
  for (const edge of edges(ring, longitude, latitude)) follow(edge, maxDepth);
  return Float64Array.from(points);
}

function* edges({ points, first, count }: Ring, longitude: number, latitude: number): Generator<Piece> {
  let eastward0 = points[first + 2 * count - 2]! - longitude;
  let northward0 = points[first + 2 * count - 1]! - latitude;
  let from = project(latitude, eastward0, northward0);
  for (let i = first; i < first + 2 * count; i += 2) {
    const eastward1 = points[i]! - longitude;
    const northward1 = points[i + 1]! - latitude;
    const to = project(latitude, eastward1, northward1);
    yield { eastward0, northward0, eastward1, northward1, from, to };
    [eastward0, northward0, from] = [eastward1, northward1, to];
  }
}

const middleOf = ({ eastward0, northward0, eastward1, northward1 }: Piece, latitude: number): Offset =>
  project(latitude, (eastward0 + eastward1) / 2, (northward0 + northward1) / 2);

const bendAt = ({ from, to }: Piece, middle: Offset): number =>
  Math.hypot(middle.x - (from.x + to.x) / 2, middle.y - (from.y + to.y) / 2);

function halve(piece: Piece, middle: Offset): [Piece, Piece] {
  const eastward = (piece.eastward0 + piece.eastward1) / 2;
  const northward = (piece.northward0 + piece.northward1) / 2;
  return [
    { ...piece, eastward1: eastward, northward1: northward, to: middle },
    { ...piece, eastward0: eastward, northward0: northward, from: middle },
  ];
}

/** Returns the distance from the origin to a segment in the plane. */
function segmentDistance(from: Offset, to: Offset): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, -(from.x * dx + from.y * dy) / length));
  return Math.hypot(from.x + t * dx, from.y + t * dy);
}

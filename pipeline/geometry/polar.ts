/**
 * Rings seen from a point above latitude 79, where an edge that is straight in longitude and latitude is a bent line on
 * the ground. Edges are projected about the point and halved until a piece is straight, or its bend can't matter.
 *
 * A piece strays from the chord between its ends by about the distance of their middles: twice that is taken as a
 * bound.
 */
import type { Ring } from './edges.js';
import { type Offset, project } from './scale.js';

/** Metres of error allowed in a distance. */
const toleranceM = 0.001;
/** Straying allowed in a share, as a part of the disc's radius. */
const shareTolerance = 1e-5;
/** Halvings of one edge: 180 degrees of longitude become pieces of 20 m at most. */
const maxDepth = 20;

/** A part of an edge: its ends in degrees from the point, and projected. */
interface Piece {
  readonly eastward0: number;
  readonly northward0: number;
  readonly eastward1: number;
  readonly northward1: number;
  readonly from: Offset;
  readonly to: Offset;
}

/**
 * Metres from the point to the nearest edge. Pieces that can't be nearer than what was found, a vertex at first, are
 * left alone.
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

/** The ring as [x0, y0, x1, y1, …] metres about the point, true to its edges within `reachM` of it. */
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

/** From the origin to a segment of the plane. */
function segmentDistance(from: Offset, to: Offset): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const t = length === 0 ? 0 : Math.max(0, Math.min(1, -(from.x * dx + from.y * dy) / length));
  return Math.hypot(from.x + t * dx, from.y + t * dy);
}

/** Validates the rings of polygons and converts them to the form that the other files of this directory read. */
import { orient2d } from 'robust-predicates';
import { type FieldProblem, invalid, type Validated } from '../../schemas/errors.js';
import type { Position } from '../../schemas/json/common.js';
import { maxRingPoints, minRingPoints } from '../../schemas/json/constants.js';
import { boundsOf } from './edges.js';
import { distance, wrapDegrees } from './scale.js';
import { findSelfIntersection } from './validity.js';

/** A valid ring, in degrees. Longitudes in `unwrapped` are continuous and may be beyond 180 or -180. */
export interface NormalRing {
  /** The ring as uploaded, closed. */
  readonly ring: Position[];
  /** [x0, y0, x1, y1, …] without repeated vertices, not closed. */
  readonly unwrapped: Float64Array;
  /** Centroid of the area in the plane of degrees. */
  readonly centroid: Position;
  /** Distance from the centroid to the furthest vertex, metres. */
  readonly radiusM: number;
}

/**
 * Validates and normalizes the coordinates of a polygon: one closed ring of 4 to 2,000 [longitude, latitude] pairs,
 * alone or within a list as in GeoJSON, whose altitudes are ignored. The ring may have either winding and may cross the
 * antimeridian. Holes, rings around a pole or wider than 360 degrees, rings without area, and rings that cross or touch
 * themselves are invalid.
 */
export function normalizeRing(coordinates: unknown): Validated<NormalRing> {
  const parsed = parseRing(coordinates);
  if (!parsed.ok) return parsed;
  const ring = parsed.value;

  const { points, origins, turn } = unwrap(ring);
  if (turn !== 0) return refuse('must not enclose a pole');
  if (isOnOneLine(points)) return refuse('must enclose an area');
  const [minX, , maxX] = boundsOf(points);
  if (maxX - minX > 360) return refuse('must not span more than 360 degrees of longitude');
  const meeting = findSelfIntersection(points);
  if (meeting) return refuse(describeMeeting(ring, origins[meeting[0]]!, origins[meeting[1]]!));
  const centroid = centroidOf(points);
  if (!centroid) return refuse('must enclose an area');
  return { ok: true, value: { ring, unwrapped: points, centroid, radiusM: radiusAbout(centroid, points) } };
}

/**
 * Returns the unwrapped coordinates of a valid ring: [x0, y0, x1, y1, …], not closed.
 */
export function unwrapRing(ring: readonly Position[]): Float64Array {
  return unwrap(ring).points;
}

const refuse = (rule: string): { ok: false; problem: FieldProblem } => invalid('coordinates', rule);

function parseRing(coordinates: unknown): Validated<Position[]> {
  const list = singleRing(coordinates);
  if (!Array.isArray(list)) return refuse('must be a ring of [longitude, latitude] pairs');
  if (isList(list[0]) && isList(list[0][0]))
    return refuse('must be one ring; holes and several rings are not supported');
  if (list.length < minRingPoints || list.length > maxRingPoints) {
    return refuse(
      `must have ${minRingPoints} to ${maxRingPoints} positions, the last equal to the first; it has ${list.length}`,
    );
  }
  const malformed = list.findIndex((position) => !isPosition(position));
  if (malformed >= 0) return refuse(`must be a ring of [longitude, latitude] pairs; position ${malformed} is not`);
  const outside = list.findIndex(([longitude, latitude]) => Math.abs(longitude) > 180 || Math.abs(latitude) > 90);
  if (outside >= 0)
    return refuse(`must have longitudes from -180 to 180 and latitudes from -90 to 90; position ${outside} does not`);
  const ring = list as Position[];
  const [first, last] = [ring[0]!, ring[ring.length - 1]!];
  if (first[0] !== last[0] || first[1] !== last[1])
    return refuse('must be closed: its last position must equal the first');
  return { ok: true, value: ring.map(([longitude, latitude]) => [longitude, latitude]) };
}

/** Returns the ring of a GeoJSON list with one ring. */
function singleRing(coordinates: unknown): unknown {
  if (!isList(coordinates) || coordinates.length !== 1) return coordinates;
  const only = coordinates[0];
  return isList(only) && isList(only[0]) ? only : coordinates;
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

/** Tests for two numbers, or three with an altitude, as GeoJSON has it. */
const isPosition = (value: unknown): boolean =>
  isList(value) && (value.length === 2 || value.length === 3) && value.every((part) => Number.isFinite(part));

interface Unwrapped {
  points: Float64Array;
  /** Index of each vertex in the uploaded ring. Of a repeated vertex the last one, where its edge begins. */
  origins: number[];
  /** Difference of end and start in degrees of longitude: not 0 if the ring encloses a pole. */
  turn: number;
}

/** Makes longitudes continuous: a step of more than 180 degrees crosses the antimeridian instead. */
function unwrap(ring: readonly Position[]): Unwrapped {
  const points: number[] = [];
  const origins: number[] = [];
  let shift = 0;
  let previous = ring[0]![0];
  for (let i = 0; i < ring.length; i++) {
    const [longitude, y] = ring[i]!;
    if (longitude - previous > 180) shift -= 360;
    else if (longitude - previous < -180) shift += 360;
    previous = longitude;
    const x = longitude + shift;
    if (points.length > 0 && x === points[points.length - 2] && y === points[points.length - 1]) {
      origins[origins.length - 1] = i;
    } else {
      points.push(x, y);
      origins.push(i);
    }
  }
  const closes = points[0] === points[points.length - 2] && points[1] === points[points.length - 1];
  const length = closes && points.length > 2 ? points.length - 2 : points.length;
  return { points: Float64Array.from(points.slice(0, length)), origins, turn: shift };
}

/**
 * Tests whether all vertices are on one line, exactly: the computed area of such a ring may differ from 0 by rounding.
 */
function isOnOneLine(points: Float64Array): boolean {
  for (let i = 4; i < points.length; i += 2) {
    if (orient2d(points[0]!, points[1]!, points[2]!, points[3]!, points[i]!, points[i + 1]!) !== 0) return false;
  }
  return true;
}

function describeMeeting(ring: Position[], edgeA: number, edgeB: number): string {
  const [first, second] = edgeA < edgeB ? [edgeA, edgeB] : [edgeB, edgeA];
  return `must not cross or touch itself: ${describeEdge(ring, first)} meets ${describeEdge(ring, second)}`;
}

const describeEdge = (ring: Position[], edge: number): string =>
  `edge ${edge} (${JSON.stringify(ring[edge])} to ${JSON.stringify(ring[edge + 1])})`;

/**
 * Returns the centroid, or undefined if the area is 0 after rounding. Computes relative to the first vertex, for
 * precision of small rings.
 */
function centroidOf(points: Float64Array): Position | undefined {
  const [originX, originY] = [points[0]!, points[1]!];
  let doubleArea = 0;
  let momentX = 0;
  let momentY = 0;
  for (let i = 2; i < points.length - 2; i += 2) {
    const [x0, y0] = [points[i]! - originX, points[i + 1]! - originY];
    const [x1, y1] = [points[i + 2]! - originX, points[i + 3]! - originY];
    const cross = x0 * y1 - x1 * y0;
    doubleArea += cross;
    momentX += cross * (x0 + x1);
    momentY += cross * (y0 + y1);
  }
  const x = originX + momentX / (3 * doubleArea);
  const y = originY + momentY / (3 * doubleArea);
  return Number.isFinite(x) && Number.isFinite(y) ? [wrapDegrees(x), y] : undefined;
}

function radiusAbout([longitude, latitude]: Position, points: Float64Array): number {
  let radiusM = 0;
  for (let i = 0; i < points.length; i += 2) {
    radiusM = Math.max(radiusM, distance(longitude, latitude, wrapDegrees(points[i]!), points[i + 1]!));
  }
  return radiusM;
}

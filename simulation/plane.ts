/**
 * A flat map of the city: metres east and north of its centre. Good to a few metres over the 20 km that the demo uses.
 */
import type { Position } from '../schemas/json/common.js';

/** Metres east (x) and north (y) of the origin. */
export interface PlanePoint {
  readonly x: number;
  readonly y: number;
}

const metresPerDegree = 111_195;

/** San Francisco, near Market and Castro. */
const origin = { longitude: -122.4351, latitude: 37.7623 };
const longitudeSqueeze = Math.cos((origin.latitude * Math.PI) / 180);

/** Returns a position in degrees as a point of the plane, in metres. */
export const toPlane = ([longitude, latitude]: Position): PlanePoint => ({
  x: (longitude - origin.longitude) * metresPerDegree * longitudeSqueeze,
  y: (latitude - origin.latitude) * metresPerDegree,
});

/** Returns a position of the plane in degrees. Rounded to seven decimals, about a centimetre. */
export const toPosition = ({ x, y }: PlanePoint): Position => [
  rounded(origin.longitude + x / (metresPerDegree * longitudeSqueeze)),
  rounded(origin.latitude + y / metresPerDegree),
];

const rounded = (degrees: number) => Math.round(degrees * 1e7) / 1e7;

/** Returns the distance of two points, in metres. */
export const distanceM = (a: PlanePoint, b: PlanePoint): number => Math.hypot(b.x - a.x, b.y - a.y);

/** Returns the point at a share of the way from a to b. */
export const along = (a: PlanePoint, b: PlanePoint, share: number): PlanePoint => ({
  x: a.x + (b.x - a.x) * share,
  y: a.y + (b.y - a.y) * share,
});

/** Rotates a point counter-clockwise about the origin. */
export function rotated({ x, y }: PlanePoint, angleRad: number): PlanePoint {
  const [sine, cosine] = [Math.sin(angleRad), Math.cos(angleRad)];
  return { x: x * cosine - y * sine, y: x * sine + y * cosine };
}

/** Finds an area's pole of inaccessibility: the point farthest from its edges. Pure. */
import polylabel from 'polylabel';

/** Precision of the distance, as a share of the polygon's shorter side. */
const precision = 0.02;

/** A point of the plane in which distances are measured. */
export type PlanePoint = readonly [x: number, y: number];

/**
 * Returns the pole of a polygon. Rings are closed; the outer ring comes first. Of a polygon without height or width,
 * which has no inside, it is the corner with the lowest coordinates.
 */
export function poleOfInaccessibility(rings: readonly (readonly PlanePoint[])[]): PlanePoint {
  const [west, east] = extremes(rings[0]!.map(([x]) => x));
  const [south, north] = extremes(rings[0]!.map(([, y]) => y));
  const side = Math.min(east - west, north - south);
  const [x, y] = polylabel(rings as [number, number][][], side * precision);
  return [x!, y!];
}

/** Returns the lowest and the highest value. */
export function extremes(values: readonly number[]): [low: number, high: number] {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return [low, high];
}

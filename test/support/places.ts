/** Points and shapes for black-box tests, in metres from a fixed point. */

/**
 * Returns [longitude, latitude] of a point in metres east and north of (10 E, 50 N). Exact to a metre within some
 * kilometres.
 */
export function at(eastM: number, northM: number): [number, number] {
  const metresPerDegree = 111_229;
  return [10 + eastM / (metresPerDegree * Math.cos((50 * Math.PI) / 180) * 1.0023), 50 + northM / metresPerDegree];
}

/** Returns the coordinates of a track request. */
export function standing(eastM: number, northM: number): { longitude: number; latitude: number } {
  const [longitude, latitude] = at(eastM, northM);
  return { longitude, latitude };
}

/** Returns the geometry of a circle about a point that is given in metres. */
export const circle = (eastM: number, northM: number, radiusM: number) => ({
  type: 'circle',
  coordinates: at(eastM, northM),
  radius: radiusM,
});

/** Returns an axis-parallel square around a point. */
export const square = (eastM: number, northM: number, halfSideM: number) => ({
  type: 'polygon',
  coordinates: [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
    [-1, -1],
  ].map(([x, y]) => at(eastM + (x ?? 0) * halfSideM, northM + (y ?? 0) * halfSideM)),
});

/** Returns the types of events, in their order. */
export const eventTypesOf = (events: readonly { type: string }[]): string[] => events.map(({ type }) => type);

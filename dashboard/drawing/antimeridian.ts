/**
 * Positions on a flat map, which goes on beyond 180 degrees. A line that jumps from 180 to -180 would be drawn around
 * the world. Pure.
 */

type Position = readonly number[];

/** Degrees. The map ends here. */
export const maxLatitude = 85;

/** Returns the longitude plus full turns, so that it is at most half a turn from the other one. */
export function longitudeNear(longitude: number, other: number): number {
  const difference = longitude - other;
  return Math.abs(difference) <= 180 ? longitude : longitude - 360 * Math.round(difference / 360);
}

/**
 * Returns a line or ring whose longitudes go on beyond 180 degrees where it crosses the antimeridian. Returns the same
 * list if it crosses nothing.
 */
export function unwrapped<Each extends Position>(positions: readonly Each[]): readonly Each[] {
  let last = positions[0]?.[0] ?? 0;
  let isSame = true;
  const moved = positions.map((position) => {
    const longitude = longitudeNear(position[0]!, last);
    last = longitude;
    if (longitude === position[0]) return position;
    isSame = false;
    return [longitude, ...position.slice(1)] as Position as Each;
  });
  return isSame ? positions : moved;
}

/** South-west and north-east, in degrees. East may be beyond 180. */
export type Frame = readonly [southWest: [number, number], northEast: [number, number]];

/**
 * Returns the smallest frame of a map around all positions, also over the antimeridian; undefined without positions.
 */
export function frameOf(positions: Iterable<Position>): Frame | undefined {
  const all = [...positions];
  if (all.length === 0) return undefined;
  const sorted = Float64Array.from(all, ([longitude]) => longitudeNear(longitude!, 0)).sort();
  let [west, east] = [sorted[0]!, sorted.at(-1)!];
  // The frame is what the widest gap leaves.
  let widest = west + 360 - east;
  for (let index = 1; index < sorted.length; index++) {
    const gap = sorted[index]! - sorted[index - 1]!;
    if (gap <= widest) continue;
    widest = gap;
    west = sorted[index]!;
    east = sorted[index - 1]! + 360;
  }
  return framed(west, east, all);
}

/**
 * Returns the frame of a map around a line or ring with its edges, also where that is wider than half a turn; undefined
 * without positions.
 */
export function frameOfOutline(outline: readonly Position[]): Frame | undefined {
  if (outline.length === 0) return undefined;
  const longitudes = unwrapped(outline).map(([longitude]) => longitude!);
  const west = longitudes.reduce((least, each) => Math.min(least, each));
  const east = longitudes.reduce((most, each) => Math.max(most, each));
  const shownWest = longitudeNear(west, 0);
  return framed(shownWest, shownWest + east - west, outline);
}

/** Returns the frame with the latitudes of the positions, as far as the map reaches. */
function framed(west: number, east: number, positions: readonly Position[]): Frame {
  let [south, north] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [, latitude] of positions) {
    const shown = Math.min(maxLatitude, Math.max(-maxLatitude, latitude!));
    south = Math.min(south, shown);
    north = Math.max(north, shown);
  }
  return [
    [west, south],
    [east, north],
  ];
}

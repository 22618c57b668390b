/**
 * Rings and lines of a sphere made ones of a plane.
 *
 * The data has no cut at the antimeridian: a ring that crosses it jumps from 180 to -180, which on a plane is a streak
 * through the whole map. Here longitudes go on past 180 instead, and the tiler wraps what lies outside. A ring around a
 * pole has no inside on a plane until it is closed along the edge of the map. Pure.
 */

import type { Position } from 'geojson';

/** Degrees from one meridian to itself again. */
const turn = 360;

/** The same line without jumps; it starts where it did. */
export function unwrapLine(line: readonly Position[]): Position[] {
  let shift = 0;
  let last = line[0]![0]!;
  return line.map(([longitude, latitude]) => {
    const step = longitude! - last;
    if (step > turn / 2) shift -= turn;
    else if (step < -turn / 2) shift += turn;
    last = longitude!;
    return [longitude! + shift, latitude!];
  });
}

/** A closed ring without jumps. One that goes around a pole is closed along that pole. */
function unwrapRing(ring: readonly Position[]): Position[] {
  const unwrapped = unwrapLine(ring);
  const first = unwrapped[0]!;
  const last = unwrapped.at(-1)!;
  if (Math.abs(last[0]! - first[0]!) < turn / 2) return unwrapped;
  const pole = first[1]! < 0 ? -90 : 90;
  return [...unwrapped, [last[0]!, pole], [first[0]!, pole], first];
}

/** A polygon without jumps, its holes beside its outer ring and the middle of that between -180 and 180. */
export function unwrapPolygon(rings: readonly (readonly Position[])[]): Position[][] {
  const [outer, ...holes] = rings.map(unwrapRing);
  const home = near(outer!, 0);
  const middle = middleLongitude(home);
  return [home, ...holes.map((hole) => near(hole, middle))];
}

/** The ring moved by whole turns to where its middle is within half a turn of `longitude`. */
function near(ring: Position[], longitude: number): Position[] {
  const shift = turn * Math.round((longitude - middleLongitude(ring)) / turn);
  return shift === 0 ? ring : ring.map(([x, y]) => [x! + shift, y!]);
}

function middleLongitude(ring: readonly Position[]): number {
  let west = Infinity;
  let east = -Infinity;
  for (const [longitude] of ring) {
    west = Math.min(west, longitude!);
    east = Math.max(east, longitude!);
  }
  return (west + east) / 2;
}

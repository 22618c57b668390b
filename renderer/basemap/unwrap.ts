/**
 * Unwraps rings and lines of the sphere to the plane.
 *
 * The data is not cut at the antimeridian. A ring that crosses it jumps from 180 to -180, which would draw a line
 * across the whole map. Unwrapped longitudes continue past 180, and the tiler wraps what lies outside. A ring around a
 * pole has no inside on the plane until it is closed along the edge of the map. Pure.
 */
import type { Position } from 'geojson';

/** Degrees of a full turn. */
const turn = 360;

/** Returns the line without jumps, with the same start. */
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

/** Returns a closed ring without jumps. A ring around a pole is closed along that pole. */
function unwrapRing(ring: readonly Position[]): Position[] {
  const unwrapped = unwrapLine(ring);
  const first = unwrapped[0]!;
  const last = unwrapped.at(-1)!;
  if (Math.abs(last[0]! - first[0]!) < turn / 2) return unwrapped;
  const pole = first[1]! < 0 ? -90 : 90;
  return [...unwrapped, [last[0]!, pole], [first[0]!, pole], first];
}

/** Returns a polygon without jumps. Holes lie beside the outer ring, whose centre is between -180 and 180. */
export function unwrapPolygon(rings: readonly (readonly Position[])[]): Position[][] {
  const [outer, ...holes] = rings.map(unwrapRing);
  const home = near(outer!, 0);
  const middle = middleLongitude(home);
  return [home, ...holes.map((hole) => near(hole, middle))];
}

/** Moves the ring by full turns so that its centre is within half a turn of `longitude`. */
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

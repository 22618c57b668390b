/** The boundary of road data: beyond it there are roads that the data does not have. Pure. */
import { edgeInReach } from '../../pipeline/geometry/boundary.js';
import { contains } from '../../pipeline/geometry/containment.js';
import { type Ring, ringOf } from '../../pipeline/geometry/edges.js';
import { unwrapRing } from '../../pipeline/geometry/ring.js';
import type { Position } from '../../schemas/json/common.js';

/** Tests whether a position is inside the boundary and at least so many metres away from it. */
export type RoadBoundary = (position: Position, marginM: number) => boolean;

/** Creates a boundary from closed rings. What an even number of rings contains is outside, so rings may be holes. */
export function roadBoundary(rings: readonly (readonly Position[])[]): RoadBoundary {
  const indexed = rings.map((ring) => ringOf(unwrapRing(ring)));
  return ([longitude, latitude], marginM) => {
    let containing = 0;
    for (const ring of indexed) {
      const x = inFrameOf(ring, longitude);
      if (edgeInReach(ring, x, latitude, marginM) < marginM) return false;
      if (contains(ring, x, latitude)) containing++;
    }
    return containing % 2 === 1;
  };
}

/** Returns the longitude in the frame of a ring, which may continue beyond 180 or -180. */
function inFrameOf({ minX, maxX }: Ring, longitude: number): number {
  if (longitude < minX && longitude + 360 <= maxX) return longitude + 360;
  return longitude > maxX && longitude - 360 >= minX ? longitude - 360 : longitude;
}

/** [west, south, east, north] in degrees. */
export type Bounds = readonly [number, number, number, number];

/** Returns whether the value is a box of degrees: west, south, east, north. It may not cross the antimeridian. */
export const isBounds = (value: unknown): value is Bounds => {
  if (!Array.isArray(value) || value.length !== 4 || !value.every((item) => Number.isFinite(item))) return false;
  const [west, south, east, north] = value as [number, number, number, number];
  return Math.abs(west) <= 180 && Math.abs(east) <= 180 && -90 <= south && south < north && north <= 90 && west < east;
};

/** Sides are straight for a few degrees only when measured in metres, so they are cut into short edges. */
const maxSideDegrees = 1;

/** Returns the boundary of a box. */
export const boundsBoundary = (bounds: Bounds): RoadBoundary => roadBoundary([ringOfBounds(bounds)]);

/** Returns the closed ring of a box. */
export function ringOfBounds([west, south, east, north]: Bounds): Position[] {
  const corners: Position[] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ];
  const ring = corners.flatMap(([x0, y0], index) => {
    const [x1, y1] = corners[(index + 1) % corners.length]!;
    const parts = Math.max(1, Math.ceil(Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0)) / maxSideDegrees));
    return Array.from(
      { length: parts },
      (_, part): Position => [x0 + ((x1 - x0) * part) / parts, y0 + ((y1 - y0) * part) / parts],
    );
  });
  return [...ring, ring[0]!];
}

/**
 * Reads the rings of a boundary in the Osmosis polygon format (.poly), which publishers of extracts offer beside them.
 * Returns undefined for another format. https://wiki.openstreetmap.org/wiki/Osmosis/Polygon_Filter_File_Format
 */
export function parsePoly(text: string): Position[][] | undefined {
  const [, ...lines] = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const rings: Position[][] = [];
  let ring: Position[] | undefined;
  for (const line of lines) {
    if (line === 'END') {
      if (ring === undefined) return rings.length > 0 ? rings : undefined;
      const closed = closedRing(ring);
      if (closed === undefined) return undefined;
      rings.push(closed);
      ring = undefined;
    } else if (ring === undefined) ring = [];
    else {
      const [longitude = Number.NaN, latitude = Number.NaN] = line.split(/\s+/).map(Number);
      if (!(Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90)) return undefined;
      ring.push([longitude, latitude]);
    }
  }
  return undefined;
}

function closedRing(ring: Position[]): Position[] | undefined {
  const [first, last] = [ring[0], ring.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const closed = first[0] === last[0] && first[1] === last[1] ? ring : [...ring, first];
  return closed.length >= 4 ? closed : undefined;
}

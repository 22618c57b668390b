/** Makes the ring of a geofence of the area that a provider computed. */
import { contains } from '../../pipeline/geometry/containment.js';
import { ringOf } from '../../pipeline/geometry/edges.js';
import { type NormalRing, normalizeRing } from '../../pipeline/geometry/ring.js';
import type { Position } from '../../schemas/json/common.js';
import { type Answer, refusal } from '../answer.js';
import type { RoadBoundary } from './boundary.js';

/** The area is refused when it comes closer than this to the boundary of the road data. */
const marginM = 500;

interface RingRequest {
  /** The destination. */
  readonly center: Position;
  /** Metres by which the provider may simplify, tried in turn; undefined leaves it to the provider. */
  readonly tolerancesM: readonly (number | undefined)[];
  /** Returns the GeoJSON geometry of the area: a polygon or several. */
  readonly areaAt: (toleranceM: number | undefined) => Promise<Answer<unknown>>;
  /** Absent: the whole world has roads, as far as is known. */
  readonly boundary?: RoadBoundary | undefined;
}

/**
 * Returns the first area that is a valid ring of at most 2,000 vertices about the destination. An area with holes loses
 * them; of several areas the one around the destination counts. Simplifying may make a ring cross itself, so each is
 * validated as the ring of a polygon is.
 */
export async function findRing({ center, tolerancesM, areaAt, boundary }: RingRequest): Promise<Answer<Position[]>> {
  let isElsewhere = false;
  for (const toleranceM of tolerancesM) {
    const area = await areaAt(toleranceM);
    if (!area.ok) return area;
    const rings = outerRings(area.value).flatMap((coordinates) => {
      const normal = normalizeRing(coordinates);
      return normal.ok ? [normal.value] : [];
    });
    const around = rings.find((ring) => isAround(ring, center));
    if (around) {
      const margin = marginM + (toleranceM ?? 0);
      const isCut = boundary !== undefined && !around.ring.every((position) => boundary(position, margin));
      return isCut
        ? refusal('outside_road_data', 'the area reaches the edge of the road data', 'radius')
        : { ok: true, value: around.ring };
    }
    isElsewhere ||= rings.length > 0;
  }
  return isElsewhere
    ? refusal('outside_road_data', 'the point is too far from a road for so short a time', 'coordinates')
    : refusal('unavailable', 'the provider of isochrones has not found a ring of at most 2,000 vertices');
}

function outerRings(geometry: unknown): unknown[] {
  const { type, coordinates } = (geometry ?? {}) as { readonly type?: unknown; readonly coordinates?: unknown };
  if (!Array.isArray(coordinates)) return [];
  if (type === 'Polygon') return coordinates.slice(0, 1);
  return type === 'MultiPolygon'
    ? coordinates.flatMap((polygon) => (Array.isArray(polygon) ? polygon.slice(0, 1) : []))
    : [];
}

/** A ring that crosses the antimeridian continues beyond it. */
const isAround = ({ unwrapped }: NormalRing, [longitude, latitude]: Position): boolean => {
  const ring = ringOf(unwrapped);
  return [longitude, longitude - 360, longitude + 360].some((x) => contains(ring, x, latitude));
};

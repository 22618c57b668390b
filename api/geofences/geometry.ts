/**
 * Looks up the geometry of a geofence that is not given as coordinates. The one step between reading the fields and the
 * edit, for every kind of input.
 *
 * The geometry of a place counts before anything else, then coordinates, then the address. An isochrone is computed
 * about whichever centre that gives. A geofence whose place has no geometry for it yet has its own until then.
 */
import type { Outcome } from '../../http/fields/reader.js';
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import { ApiError, fieldError, parameterError } from '../../schemas/errors.js';
import { placeRecordId } from '../../schemas/ids.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import type { GeofenceRecord, GeometrySource, PlaceSource } from '../../schemas/json/geofence.js';
import type { PlaceRecord } from '../../schemas/json/place.js';
import type { GeometrySources } from '../dependencies.js';
import { atAddress, type GeometryLookup, isSamePosition } from './addresses.js';
import { type GeofenceInput, type GivenGeofence, isSought, type PlainGeofence, type SoughtGeofence } from './fields.js';

/** Geofences that may follow one place, so that a change of the place has a bounded effect. */
export const maxGeofencesPerPlace = 1_000;

/**
 * Returns the input with its geometry. What the owner did not change is not looked up again: an isochrone keeps its
 * ring, and an address its position.
 * @param current reads the record that will be replaced. Called only if the geometry must be looked up.
 */
export async function resolveGeometry(
  scope: Scope,
  given: GivenGeofence,
  current: () => Promise<GeofenceRecord | undefined>,
  configuration: Pick<ConfigurationReader, 'places' | 'geofencesOfPlace'>,
  sources: GeometrySources,
): Promise<Outcome<GeofenceInput>> {
  if (given.type !== 'isochrone' && !isSought(given)) return { ok: true, value: given };
  const lookup = { scope, existing: await current(), sources };
  if (!isSought(given)) return withIsochrone(given, {}, lookup);
  const { placeId } = given.sought;
  return placeId === null ? withOwnGeometry(given, lookup) : atPlace(given, placeId, configuration, lookup);
}

/** Returns the input with the geometry that its coordinates or its address give, of which it has at least one. */
async function withOwnGeometry(given: SoughtGeofence, lookup: GeometryLookup): Promise<Outcome<GeofenceInput>> {
  const { sought, ...described } = given;
  let { center } = given;
  let source: GeometrySource | undefined;
  if (sought.address !== null) {
    const located = await atAddress(given, sought.address, lookup);
    if (!located.ok) return located;
    ({ center } = located.value);
    source = { address: located.value.address };
  }
  // Coordinates give the radius of a polygon; the others must have one.
  const input = { ...described, center: center!, radius: given.radius! };
  if (given.type === 'isochrone') return withIsochrone(input, source ?? {}, lookup);
  return { ok: true, value: { ...input, ...(source && { geometrySource: source }) } };
}

/** Adds the ring of an isochrone. It is computed only if it is not that of the existing record. */
async function withIsochrone(
  input: PlainGeofence,
  source: GeometrySource,
  { scope: { project }, existing, sources }: GeometryLookup,
): Promise<Outcome<GeofenceInput>> {
  const kept = existing && isSameIsochrone(input, existing) ? existing : undefined;
  if (kept !== undefined) {
    const { isochrone } = kept.geometrySource ?? {};
    const geometrySource = { ...source, ...(isochrone && { isochrone }) };
    const hasSource = Object.keys(geometrySource).length > 0;
    return { ok: true, value: { ...input, ring: kept.ring, ...(hasSource && { geometrySource }) } };
  }
  if (sources.isochrones === undefined) return { ok: false, error: notAvailable(noRoads) };
  // An isochrone without a mode has been refused.
  const mode = input.mode as TravelMode;
  const computed = await sources.isochrones({ project, center: input.center, minutes: input.radius, mode });
  if (!computed.ok) {
    const { code, param, message } = computed.error;
    return code === 'not_available' && param === undefined ? { ok: false, error: notAvailable(message) } : computed;
  }
  const { ring, source: isochrone } = computed.value;
  return { ok: true, value: { ...input, ring, geometrySource: { ...source, isochrone } } };
}

const isSameIsochrone = (given: PlainGeofence, { type, ring, center, radius, mode }: GeofenceRecord): boolean =>
  type === 'isochrone' &&
  ring !== null &&
  isSamePosition(center, given.center) &&
  radius === given.radius &&
  mode === given.mode;

/** What the error `not_available` says when no routing is configured. */
export const noRoads = 'isochrones need road data: set routing.provider and routing.url';

const notAvailable = (rule: string): ApiError => fieldError('not_available', { param: 'type', rule });

/**
 * Returns the input with the geometry of the place. If the catalogue has no such place, or only a point for a polygon,
 * the geofence has its own geometry, and the follower replaces it when the place has one.
 */
async function atPlace(
  given: SoughtGeofence,
  placeId: string,
  configuration: Pick<ConfigurationReader, 'places' | 'geofencesOfPlace'>,
  lookup: GeometryLookup,
): Promise<Outcome<GeofenceInput>> {
  const { scope, existing } = lookup;
  const place = configuration.places.find(scope, placeRecordId(scope.project, scope.environment, placeId));
  if (existing?.geometrySource?.place?.id !== placeId && isFull(scope, placeId, configuration)) return fullPlace();
  const { sought: _, ...input } = given;
  const hasGeometry = place !== undefined && (given.type !== 'polygon' || place.ring !== null);
  if (hasGeometry) return withPlace(input, place, given, lookup);
  const source = sourceOf(given, placeId, place?.geometryHash ?? null);
  if (given.center !== null || given.sought.address !== null) {
    const own = await withOwnGeometry(given, lookup);
    return own.ok ? { ok: true, value: withSource(own.value, source) } : own;
  }
  const kept = existing && keptGeometry(existing, source, given);
  if (kept !== undefined) return { ok: true, value: withSource({ ...input, ...kept }, source) };
  return refusedPlace(
    place === undefined
      ? 'names no place of the catalogue; see "fenceline places import", or give coordinates'
      : 'names a point, which has no area; use type circle with a radius, or give coordinates',
  );
}

/** Returns what a geofence notes about its place. */
const sourceOf = (
  { type, radius }: Pick<SoughtGeofence, 'type' | 'radius'>,
  id: string,
  geometryHash: string | null,
): PlaceSource => ({ id, geometryHash, type, radius: type === 'polygon' ? null : radius });

const withSource = (input: GeofenceInput, place: PlaceSource): GeofenceInput => ({
  ...input,
  geometrySource: { ...input.geometrySource, place },
});

/** Returns the geometry that the geofence took from the place earlier, unless the owner now wants another shape. */
function keptGeometry(
  { type, center, radius, ring, mode, geometrySource }: GeofenceRecord,
  wanted: PlaceSource,
  given: Pick<SoughtGeofence, 'mode'>,
): Pick<GeofenceInput, 'type' | 'center' | 'radius' | 'ring' | 'geometrySource'> | undefined {
  const before = geometrySource?.place;
  const wasTaken = before !== undefined && before.geometryHash !== null && before.id === wanted.id;
  const isSameShape = before?.type === wanted.type && before.radius === wanted.radius && mode === given.mode;
  return wasTaken && isSameShape
    ? { type, center, radius, ring, ...(geometrySource && { geometrySource }) }
    : undefined;
}

const refusedPlace = (rule: string) => ({ ok: false as const, error: parameterError({ param: 'placeId', rule }) });

/** Returns the outcome of a geofence that would be one too many of its place. */
export const fullPlace = () =>
  refusedPlace(`has ${maxGeofencesPerPlace} geofences already, the most that may follow one place`);

const isFull = (scope: Scope, placeId: string, configuration: Pick<ConfigurationReader, 'geofencesOfPlace'>): boolean =>
  configuration.geofencesOfPlace(scope, placeId, maxGeofencesPerPlace).length === maxGeofencesPerPlace;

/** Returns the place that a geofence begins to follow; undefined if it follows none, or that one already. */
export function newPlaceOf(
  { geometrySource }: Pick<GeofenceInput, 'geometrySource'>,
  existing: GeofenceRecord | undefined,
): PlaceSource | undefined {
  const place = geometrySource?.place;
  return place?.id === existing?.geometrySource?.place?.id ? undefined : place;
}

/**
 * Returns why a geofence may not begin to follow its place any more: since {@link resolveGeometry}, other edits may
 * have deleted the place, or taken the last places of followers.
 */
export function placeProblem(
  scope: Scope,
  { id, geometryHash }: PlaceSource,
  configuration: Pick<ConfigurationReader, 'places' | 'geofencesOfPlace'>,
): ApiError | undefined {
  const isGone = configuration.places.find(scope, placeRecordId(scope.project, scope.environment, id)) === undefined;
  if (geometryHash !== null && isGone)
    return new ApiError('edit_conflict', 'the place was deleted meanwhile; try again');
  return isFull(scope, id, configuration) ? fullPlace().error : undefined;
}

/**
 * Returns the input with the geometry of a place: its polygon; for a point a circle of the radius that the owner gave;
 * for an isochrone the area about its centre.
 */
function withPlace(
  input: Omit<PlainGeofence, 'center' | 'radius'>,
  place: PlaceRecord,
  { type, radius }: Pick<SoughtGeofence, 'type' | 'radius'>,
  lookup: GeometryLookup,
): Promise<Outcome<GeofenceInput>> | Outcome<GeofenceInput> {
  const { placeId: id, geometryHash, center, ring } = place;
  const geometrySource = { place: sourceOf({ type, radius }, id, geometryHash) };
  // A circle or isochrone without a radius has been refused.
  if (type === 'isochrone')
    return withIsochrone({ ...input, type, center, radius: radius!, ring: null }, geometrySource, lookup);
  const area =
    ring === null
      ? { type: 'circle' as const, center, radius: radius!, ring }
      : { type: 'polygon' as const, center, radius: place.radius!, ring };
  return { ok: true, value: { ...input, ...area, geometrySource } };
}

/**
 * Returns a geofence with the present geometry of its place. A geofence that was made from the polygon of a place, and
 * has no radius, keeps its area when the place becomes a point.
 */
export async function followPlace(
  record: GeofenceRecord,
  place: PlaceRecord,
  sources: GeometrySources,
): Promise<Outcome<GeofenceInput>> {
  const { _id, project, environment, createdAt, updatedAt, timeZone, ...input } = record;
  const source = record.geometrySource!.place!;
  if (place.ring === null && source.radius === null) {
    const geometrySource = { place: { ...source, geometryHash: place.geometryHash } };
    return { ok: true, value: { ...input, geometrySource } };
  }
  return withPlace(input, place, source, { scope: record, existing: record, sources });
}

/**
 * Looks up the geometry of a geofence that is not given as coordinates. The one step between reading the fields and the
 * edit, for every kind of input.
 */
import type { Outcome } from '../../http/fields/reader.js';
import { ApiError } from '../../schemas/errors.js';
import type { TravelMode } from '../../schemas/json/constants.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { GeometrySources } from '../dependencies.js';
import type { GeofenceInput, GivenGeofence } from './fields.js';

/**
 * Returns the input with its geometry. An isochrone whose centre, radius and mode are unchanged keeps its ring.
 * @param project id of the project, among which the providers' capacity is shared.
 * @param current reads the record that will be replaced. Called only if the geometry must be looked up.
 */
export async function resolveGeometry(
  project: string,
  given: GivenGeofence,
  current: () => Promise<GeofenceRecord | undefined>,
  sources: GeometrySources,
): Promise<Outcome<GeofenceInput>> {
  if (given.type !== 'isochrone') return { ok: true, value: given };
  const existing = await current();
  if (existing && isSameIsochrone(given, existing)) {
    const { ring, geometrySource } = existing;
    return { ok: true, value: { ...given, ring, ...(geometrySource && { geometrySource }) } };
  }
  if (sources.isochrones === undefined) return { ok: false, error: notConfigured() };
  // An isochrone without a mode has been refused.
  const mode = given.mode as TravelMode;
  const computed = await sources.isochrones({ project, center: given.center, minutes: given.radius, mode });
  if (!computed.ok) return computed;
  const { ring, source } = computed.value;
  return { ok: true, value: { ...given, ring, geometrySource: { isochrone: source } } };
}

const isSameIsochrone = (given: GivenGeofence, { type, ring, center, radius, mode }: GeofenceRecord): boolean =>
  type === 'isochrone' &&
  ring !== null &&
  center[0] === given.center[0] &&
  center[1] === given.center[1] &&
  radius === given.radius &&
  mode === given.mode;

const notConfigured = (): ApiError =>
  new ApiError(
    'not_available',
    'type: isochrones need road data: run "fenceline roads build", or set routing.provider and routing.url',
    { param: 'type' },
  );

/**
 * Search by place: the context of a point, nearby geofences and beacons, and the region that SDKs store for offline
 * use.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import { createDisclosures } from '../../http/access/disclosure.js';
import { leavingOf } from '../../http/access/revocation.js';
import { bodyFields, success } from '../../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { readMetadataFilter } from '../../http/fields/structures.js';
import { textOf } from '../../http/fields/values.js';
import { maxIdCharacters } from '../../http/location/request.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import type { BeaconType } from '../../schemas/json/beacon.js';
import type { Position } from '../../schemas/json/common.js';
import { listText, sendPage, sendText } from '../page.js';
import { settingsOf } from './config.js';
import type { SdkDependencies } from './dependencies.js';
import { isFromIos } from './ios.js';
import {
  BeaconSearchAnswer,
  BeaconSearchQuery,
  ContextAnswer,
  ContextQuery,
  GeofenceSearchAnswer,
  GeofenceSearchQuery,
  RegionAnswer,
  RegionRequest,
} from './schemas.js';

const defaultGeofences = 100;
const maxGeofences = 1_000;
const maxWithGeometry = 100;
const maxBeacons = 100;
const defaultBeacons = 10;
const maxBeaconRadiusM = 10_000;
/** SDKs keep the beacons within this radius in sync. */
const syncedBeaconRadiusM = 1_000;

/** Tried from the widest on, until a region holds no more geofences and beacons than a device should keep. */
const regionRadiiM = [10_000, 5_000, 2_000, 1_000, 500, 200] as const;
const maxRegionGeofences = 100;
/** What a web SDK sends for every metadata filter. */
const garbledFilter = '[object Object]';

/** CoreLocation ranges no Eddystone beacons. They would take the places of others, and spoil a list of the SDK. */
const beaconTypeFor = (request: FastifyRequest): BeaconType | undefined => (isFromIos(request) ? 'ibeacon' : undefined);

const placeOf = (scope: Scope, [longitude, latitude]: Position) => ({
  project: scope.project,
  environment: scope.environment,
  longitude,
  latitude,
});

function readContextQuery(query: RawFields): Outcome<Position> {
  const reader = new FieldReader(query);
  const position = reader.required('coordinates', reader.latitudeLongitude('coordinates'));
  // SDKs send it. It decides nothing, because a context has the geofences that contain the point.
  reader.number('accuracy', { minimum: 0, unit: 'metres' });
  return reader.outcome(() => position as Position);
}

function readGeofenceQuery(query: RawFields) {
  const reader = new FieldReader(query);
  const near = reader.required('near', reader.latitudeLongitude('near'));
  const limit = reader.integer('limit', { minimum: 1, maximum: maxGeofences }) ?? defaultGeofences;
  const radiusM = reader.number('radius', { minimum: 1, unit: 'metres' });
  const tags = reader.list('tags')?.flatMap((tag) => textOf(tag) || []);
  if (tags?.length === 0) reader.refuse('tags', 'must name at least one tag; leave it out for all tags');
  const metadata = query.metadata === garbledFilter ? null : reader.take(readMetadataFilter(query.metadata));
  // The documentation of the wire format uses both names.
  const includeGeometry = reader.boolean('includeGeometry') ?? reader.boolean('includeGeometries') ?? true;
  if (includeGeometry && limit > maxWithGeometry)
    reader.refuse('includeGeometry', `must be false for a limit above ${maxWithGeometry}`);
  return reader.outcome(() => ({
    near: near as Position,
    search: {
      limit,
      includeGeometry,
      ...(radiusM !== null && { radiusM }),
      ...(tags && { tags }),
      ...(metadata && { metadata }),
    },
  }));
}

function readBeaconQuery(query: RawFields): Outcome<{ near: Position; radiusM: number; limit: number }> {
  const reader = new FieldReader(query);
  const near = reader.required('near', reader.latitudeLongitude('near'));
  const radiusM = reader.number('radius', { minimum: 1, maximum: maxBeaconRadiusM, unit: 'metres' });
  const limit = reader.integer('limit', { minimum: 1 }) ?? defaultBeacons;
  return reader.outcome(() => ({
    near: near as Position,
    radiusM: radiusM ?? syncedBeaconRadiusM,
    limit: Math.min(limit, maxBeacons),
  }));
}

function readRegionRequest(fields: RawFields): Outcome<{ position: Position; userId: string | null }> {
  const reader = new FieldReader(fields);
  const latitude = reader.required('latitude', reader.number('latitude', { minimum: -90, maximum: 90 }));
  const longitude = reader.required('longitude', reader.number('longitude', { minimum: -180, maximum: 180 }));
  const userId = reader.text('userId', maxIdCharacters);
  return reader.outcome(() => ({ position: [longitude as number, latitude as number], userId }));
}

/**
 * Returns the widest region whose geofences and beacons a device can keep. It has all beacons of the region, and none
 * beyond 1 km: devices do not ask again within a region, and beacons beyond are not synced.
 */
async function regionAround(
  spatial: SdkDependencies['spatial'],
  place: ReturnType<typeof placeOf>,
  { userId, beaconType }: { userId: string | null; beaconType: BeaconType | undefined },
  signal: AbortSignal,
) {
  for (const radiusM of regionRadiiM) {
    const isLast = radiusM === regionRadiiM.at(-1);
    const query = { ...place, userId, radiusM, limit: maxRegionGeofences, includeGeometry: true };
    const geofences = await spatial.searchGeofences(query, signal);
    if (geofences.length >= maxRegionGeofences && !isLast) continue;
    const beaconsWithin = (radiusM: number) =>
      spatial.searchBeacons({ ...place, radiusM, limit: maxBeacons, type: beaconType }, signal);
    const beacons = await beaconsWithin(radiusM);
    if (beacons.length >= maxBeacons && !isLast) continue;
    const isSynced = radiusM <= syncedBeaconRadiusM || beacons.length === 0;
    if (isSynced || beacons.length === (await beaconsWithin(syncedBeaconRadiusM)).length)
      return { radiusM, geofences, beacons };
  }
  throw new Error('unreachable: the last radius always answers');
}

type Dependencies = Pick<SdkDependencies, 'spatial' | 'configuration'>;
type Disclosures = ReturnType<typeof createDisclosures>;

const config = { authority: 'publishable', limit: 'query', isNullUnset: true } as const;

function addContextRoute(app: FastifyInstance, { spatial }: Dependencies): void {
  app.get(
    '/v1/context',
    {
      config,
      schema: {
        summary: 'List the geofences at a point',
        tags: ['search'],
        querystring: ContextQuery,
        response: { 200: ContextAnswer },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const position = accepted(readContextQuery(request.query as RawFields));
      return sendText('search', request, reply, async (leaving) => {
        const items = await spatial.context(placeOf(caller, position), leaving);
        const geofences = await listText({ items, text: JSON.stringify }, leaving);
        // Mobile SDKs read `context`, the web SDK reads the top level.
        const context = `"live":${caller.environment === 'live'},"geofences":${geofences}`;
        return `{"meta":${JSON.stringify(success)},"context":{${context}},${context}}`;
      });
    },
  );
}

function addGeofenceSearchRoute(app: FastifyInstance, { spatial }: Dependencies, disclosureFor: Disclosures): void {
  app.get(
    '/v1/search/geofences',
    {
      config,
      schema: {
        summary: 'List the geofences near a point, nearest first',
        tags: ['search'],
        querystring: GeofenceSearchQuery,
        response: { 200: GeofenceSearchAnswer },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { near, search } = accepted(readGeofenceQuery(request.query as RawFields));
      return sendPage('search', request, reply, async (leaving) => {
        const found = await spatial.searchGeofences({ ...placeOf(caller, near), ...search }, leaving);
        const items = disclosureFor(caller).geofences(found);
        return { meta: success, name: 'geofences', items, text: JSON.stringify };
      });
    },
  );
}

function addBeaconSearchRoute(app: FastifyInstance, { spatial, configuration }: Dependencies): void {
  app.get(
    '/v1/search/beacons',
    {
      config,
      schema: {
        summary: 'List the beacons near a point, nearest first, and the UUIDs and UIDs to range anywhere',
        tags: ['search'],
        querystring: BeaconSearchQuery,
        response: { 200: BeaconSearchAnswer },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { near, radiusM, limit } = accepted(readBeaconQuery(request.query as RawFields));
      const query = { ...placeOf(caller, near), radiusM, limit, type: beaconTypeFor(request) };
      const beacons = await spatial.searchBeacons(query, leavingOf(reply));
      const { beaconUuids: uuids, beaconUids: uids } = settingsOf(configuration, caller);
      return { meta: { code: 200, settings: { beacons: { uuids, uids } } }, beacons };
    },
  );
}

function addRegionRoute(app: FastifyInstance, { spatial }: Dependencies, disclosureFor: Disclosures): void {
  app.post(
    '/v1/sync/region',
    {
      config: { ...config, isRepeatable: true },
      schema: {
        summary: 'List the geofences and beacons around a point, for offline use',
        tags: ['sdk'],
        body: RegionRequest,
        response: { 200: RegionAnswer },
      },
    },
    async (request, reply) => {
      const { position, userId } = accepted(readRegionRequest(bodyFields(request.body)));
      const caller = callerOf(request);
      const place = placeOf(caller, position);
      return sendText('search', request, reply, async (leaving) => {
        const wanted = { userId, beaconType: beaconTypeFor(request) };
        const { radiusM, geofences: around, beacons } = await regionAround(spatial, place, wanted, leaving);
        const items = disclosureFor(caller).geofences(around);
        const geofences = await listText({ items, text: JSON.stringify }, leaving);
        const region = { latitude: place.latitude, longitude: place.longitude, radius: radiusM };
        const rest = JSON.stringify({ beacons, places: [], region }).slice(1);
        return `{"meta":${JSON.stringify(success)},"geofences":${geofences},${rest}`;
      });
    },
  );
}

/** Serves the searches near a point, and the region that SDKs store for offline use. */
export const searchRoutes: FastifyPluginAsync<Dependencies> = async (app, dependencies) => {
  const disclosureFor = createDisclosures((query) => dependencies.spatial.context(query));
  addContextRoute(app, dependencies);
  addGeofenceSearchRoute(app, dependencies, disclosureFor);
  addBeaconSearchRoute(app, dependencies);
  addRegionRoute(app, dependencies, disclosureFor);
};

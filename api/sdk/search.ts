/**
 * Questions by place: the context of a point, nearby geofences and beacons, and the region that SDKs keep for offline
 * use.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyPluginAsync } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import { coordinatesField, listField, metadataFilter } from '../../http/fields/structures.js';
import { accepted } from '../../http/fields/validation.js';
import type { IngestParts } from '../../ingest/parts.js';
import {
  BeaconSearchAnswer,
  BeaconSearchQuery,
  ContextAnswer,
  ContextQuery,
  GeofenceSearchAnswer,
  GeofenceSearchQuery,
  RegionAnswer,
  RegionRequest,
} from '../../ingest/schemas.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { invalid, parameterError } from '../../schemas/errors.js';
import type { Position } from '../../schemas/json/common.js';
import { settingsOf } from './config.js';

const maxWithGeometry = 100;
const maxBeacons = 100;
const defaultBeacons = 10;
/** SDKs keep beacons of this reach in sync. */
const beaconRadiusM = 1_000;

/** Tried from the widest on, until a region holds no more geofences than a device should keep. */
const regionRadiiM = [10_000, 5_000, 2_000, 1_000, 500, 200] as const;
const maxRegionGeofences = 100;

const placeOf = (scope: Scope, [longitude, latitude]: Position) => ({
  project: scope.project,
  environment: scope.environment,
  longitude,
  latitude,
});

export const searchRoutes: FastifyPluginAsync<IngestParts> = async (
  plugin,
  { spatial, configuration, disclosureFor },
) => {
  const app = plugin.withTypeProvider<TypeBoxTypeProvider>();
  const config = { authority: 'publishable', limit: 'query' } as const;

  app.get(
    '/v1/context',
    {
      config,
      schema: {
        summary: 'What is at a point',
        tags: ['search'],
        querystring: ContextQuery,
        response: { 200: ContextAnswer },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const position = accepted(coordinatesField('coordinates', request.query.coordinates));
      const geofences = await spatial.context({ ...placeOf(caller, position), accuracyM: request.query.accuracy ?? 0 });
      // Mobile SDKs read `context`, the web SDK reads the top level.
      const context = { live: caller.environment === 'live', geofences };
      return { meta: { code: 200 }, context, ...context };
    },
  );

  app.get(
    '/v1/search/geofences',
    {
      config,
      schema: {
        summary: 'Geofences near a point, nearest first',
        tags: ['search'],
        querystring: GeofenceSearchQuery,
        response: { 200: GeofenceSearchAnswer },
      },
    },
    async (request) => {
      const { near, limit = 100, radius, tags, metadata, includeGeometry, includeGeometries } = request.query;
      const withGeometry = includeGeometry ?? includeGeometries ?? true;
      if (withGeometry && limit > maxWithGeometry) {
        throw parameterError(invalid('includeGeometry', `must be false for a limit above ${maxWithGeometry}`).problem);
      }
      const wantedTags = listField(tags);
      const wantedMetadata = metadataFilter(metadata);
      const caller = callerOf(request);
      const geofences = await spatial.searchGeofences({
        ...placeOf(caller, accepted(coordinatesField('near', near))),
        limit,
        includeGeometry: withGeometry,
        ...(radius !== undefined && { radiusM: radius }),
        ...(wantedTags && { tags: wantedTags }),
        ...(wantedMetadata && { metadata: wantedMetadata }),
      });
      return { meta: { code: 200 }, geofences: disclosureFor(caller).geofences(geofences) };
    },
  );

  app.get(
    '/v1/search/beacons',
    {
      config,
      schema: {
        summary: 'Beacons near a point, nearest first, and what to range anyway',
        tags: ['search'],
        querystring: BeaconSearchQuery,
        response: { 200: BeaconSearchAnswer },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { near, radius = beaconRadiusM, limit = defaultBeacons } = request.query;
      const place = placeOf(caller, accepted(coordinatesField('near', near)));
      const beacons = await spatial.searchBeacons({ ...place, radiusM: radius, limit: Math.min(limit, maxBeacons) });
      const { beaconUuids: uuids, beaconUids: uids } = settingsOf(configuration, caller);
      return { meta: { code: 200, settings: { beacons: { uuids, uids } } }, beacons };
    },
  );

  /** The widest region whose geofences a device can keep. */
  async function regionAround(place: ReturnType<typeof placeOf>) {
    for (const radiusM of regionRadiiM) {
      const geofences = await spatial.searchGeofences({
        ...place,
        radiusM,
        limit: maxRegionGeofences,
        includeGeometry: true,
      });
      if (geofences.length < maxRegionGeofences || radiusM === regionRadiiM.at(-1)) return { radiusM, geofences };
    }
    throw new Error('unreachable: the last radius always answers');
  }

  app.post(
    '/v1/sync/region',
    {
      config,
      schema: {
        summary: 'All that lies around a point, for offline use',
        tags: ['sdk'],
        body: RegionRequest,
        response: { 200: RegionAnswer },
      },
    },
    async (request) => {
      const { latitude, longitude } = request.body;
      const caller = callerOf(request);
      const place = placeOf(caller, [longitude, latitude]);
      const { radiusM, geofences: around } = await regionAround(place);
      const geofences = disclosureFor(caller).geofences(around);
      const beacons = await spatial.searchBeacons({ ...place, radiusM, limit: maxBeacons });
      const region = { latitude, longitude, radius: radiusM };
      return { meta: { code: 200 }, geofences, beacons, places: [], region };
    },
  );
};

/** Beacons: the routes of a paired resource. */
import type { FastifyPluginAsync } from 'fastify';
import { Beacon, type BeaconRecord } from '../../schemas/json/beacon.js';
import { beaconJson } from '../../schemas/wire/geofence.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { addPairedRoutes } from '../paired-routes.js';
import { BeaconFields, NewBeaconFields } from './body.js';
import { normalizeBeacon } from './input.js';
import { beaconId, beaconRecord } from './record.js';

export const beaconRoutes =
  (deps: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration } = deps;
    addPairedRoutes(
      app,
      {
        name: 'beacon',
        orderBy: 'createdAt',
        schemas: { answer: Beacon, creation: NewBeaconFields, update: BeaconFields },
        find: (scope, id) => configuration.beacon(scope, id),
        list: (query) => configuration.beacons(query),
        idOf: beaconId,
        normalize: normalizeBeacon,
        record: beaconRecord,
        json: (record: BeaconRecord) => beaconJson(record),
      },
      deps,
      edit,
    );
  };

/** The routes of beacons, named by id or pair. */
import type { FastifyPluginAsync } from 'fastify';
import { Beacon, type BeaconRecord } from '../../schemas/json/beacon.js';
import { beaconJson } from '../../schemas/wire/geofence.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { addPairedRoutes } from '../paired/routes.js';
import { requireBeaconPlan } from '../plans.js';
import { exportedBeacon } from '../stored-fields.js';
import { beaconFields, readBeacon } from './fields.js';
import { beaconId, beaconRecord } from './record.js';

/** Serves /v1/beacons: lists, searches, and beacons by id or by tag and external id. */
export const beaconRoutes =
  (dependencies: ApiDependencies, edit: Edit): FastifyPluginAsync =>
  async (app) => {
    const { configuration } = dependencies;
    addPairedRoutes(
      app,
      {
        name: 'beacon',
        orderBy: 'createdAt',
        fields: beaconFields,
        answer: Beacon,
        stored: exportedBeacon,
        find: (scope, id) => configuration.beacon(scope, id),
        list: (query) => configuration.beacons(query),
        search: (query) => configuration.searchBeacons(query),
        idOf: beaconId,
        read: readBeacon,
        complete: async (_, value) => ({ ok: true, value }),
        record: beaconRecord,
        json: (record: BeaconRecord) => beaconJson(record),
        admit: (scope) => requireBeaconPlan(dependencies, scope),
      },
      dependencies,
      edit,
    );
  };

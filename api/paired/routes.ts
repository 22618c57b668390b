/**
 * The routes that geofences and beacons share: create, replace, read, list and delete, by id and by the pair (tag,
 * externalId).
 */
import type { FastifyInstance } from 'fastify';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { ApiDependencies } from '../dependencies.js';
import type { Edit } from '../edits.js';
import { addBulkRoute } from './bulk.js';
import { addOutlineRoute } from './outlines.js';
import { createPairedParts } from './parts.js';
import { addListRoute, addRecordRoutes } from './read-routes.js';
import type { PairedResource } from './resource.js';
import { addCountRoute } from './search.js';
import { addChangeRoutes, addDeletionRoutes, addUpsertRoutes } from './write-routes.js';

/** Adds the routes under `/v1/{name}s`. */
export function addPairedRoutes<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  resource: PairedResource<Given, Input, Stored>,
  dependencies: Pick<ApiDependencies, 'configuration' | 'writer' | 'clock'>,
  edit: Edit,
): void {
  const parts = createPairedParts(resource, dependencies, edit);
  addUpsertRoutes(app, parts);
  addChangeRoutes(app, parts);
  addListRoute(app, parts);
  addCountRoute(app, resource, dependencies.configuration);
  addBulkRoute(app, resource, dependencies);
  addOutlineRoute(app, resource, dependencies.clock);
  addRecordRoutes(app, parts);
  addDeletionRoutes(app, parts);
}

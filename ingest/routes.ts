/**
 * Locations in: track, replay and bulk uploads.
 *
 * Input: requests of devices (publishable keys) and of backends (secret keys). Output: `Location` records, which
 * are durable on topic `locations` before they are acknowledged, and answers that carry the result of the location
 * stage.
 */
import type { FastifyPluginAsync } from 'fastify';
import { bulkRoutes } from './bulk/routes.js';
import { createParts, type IngestDependencies } from './dependencies.js';
import { trackRoutes } from './track.js';

/** Registers the routes: `await app.register(ingestRoutes, dependencies)`. */
export const ingestRoutes: FastifyPluginAsync<IngestDependencies> = async (app, dependencies) => {
  const parts = createParts(dependencies);
  await app.register(trackRoutes, parts);
  await app.register(bulkRoutes, parts);
};

/**
 * Locations in, and the other calls that SDKs make.
 *
 * Flows in: requests of devices (publishable keys) and of backends (secret keys). Flows out: `Location` records,
 * durable on topic `locations` before they are acknowledged; conversions on topic `events`; and answers that carry what
 * the location stage made of them. May import schemas, pipeline and http.
 */
import type { FastifyPluginAsync } from 'fastify';
import { clientCallRoutes } from '../api/sdk/client-calls.js';
import { configRoutes } from '../api/sdk/config.js';
import { searchRoutes } from '../api/sdk/search.js';
import { bulkRoutes } from './bulk.js';
import { createIngestParts, type IngestDependencies } from './parts.js';
import { trackRoutes } from './track.js';

/** All routes of ingest, as one plugin: `app.register(ingestRoutes, dependencies)`. */
export const ingestRoutes: FastifyPluginAsync<IngestDependencies> = async (app, dependencies) => {
  const parts = createIngestParts(dependencies);
  await app.register(trackRoutes, parts);
  await app.register(bulkRoutes, parts);
  await app.register(configRoutes, parts);
  await app.register(searchRoutes, parts);
  await app.register(clientCallRoutes, parts);
};

/**
 * The calls of SDKs that are not locations: configuration, search by place, routes, conversions and log lines.
 *
 * Input: requests of devices and pages with a publishable key. Output: answers of the spatial index and of the
 * project's settings, and conversions on topic `events`.
 */
import type { FastifyPluginAsync } from 'fastify';
import { configRoutes } from './config.js';
import type { SdkDependencies } from './dependencies.js';
import { reportRoutes } from './reports.js';
import { searchRoutes } from './search.js';
import { travelRoutes } from './travel.js';

/** Registers the calls of SDKs that are no locations: `await app.register(sdkRoutes, dependencies)`. */
export const sdkRoutes: FastifyPluginAsync<SdkDependencies> = async (app, dependencies) => {
  await app.register(configRoutes, dependencies);
  await app.register(searchRoutes, dependencies);
  await app.register(travelRoutes, dependencies);
  await app.register(reportRoutes, dependencies);
};

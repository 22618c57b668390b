/**
 * The management API: one plugin per resource.
 *
 * Input: requests with a secret key (for projects, the admin API key). Output: changes on topic `changes`, and
 * answers from the node's read model, the analytics store and the spatial index.
 */
import type { FastifyPluginAsync } from 'fastify';
import { accountRoutes } from './accounts/routes.js';
import { analyticsRoutes } from './analytics/routes.js';
import { beaconRoutes } from './beacons/routes.js';
import type { ApiDependencies } from './dependencies.js';
import { createEditor } from './edits.js';
import { erasureRoutes } from './erasures/routes.js';
import { eventRoutes } from './events/routes.js';
import { verificationRoutes } from './events/verification.js';
import { explainRoutes } from './explain/routes.js';
import { isochroneRoute } from './geofences/isochrone-route.js';
import { geofenceRoutes } from './geofences/routes.js';
import { mapMarkerRoutes } from './map-markers/routes.js';
import { mapStyleRoutes } from './map-styles/routes.js';
import { mapRoutes } from './maps/routes.js';
import { placeRoutes } from './places/routes.js';
import { projectRoutes } from './projects/routes.js';
import { addressRoutes } from './sdk/addresses.js';
import { settingsRoutes } from './settings/routes.js';
import { statusRoutes } from './status/routes.js';
import { subscriberRoutes } from './topics/subscribers.js';
import { userRoutes } from './users/routes.js';
import { deliveryRoutes } from './webhooks/delivery-routes.js';
import { webhookRoutes } from './webhooks/routes.js';
import { secretRoutes } from './webhooks/secret-routes.js';

export type { ApiDependencies } from './dependencies.js';

/** Registers all routes of the API: `await app.register(apiRoutes, dependencies)`. */
export const apiRoutes: FastifyPluginAsync<ApiDependencies> = async (app, dependencies) => {
  const edit = createEditor(dependencies);
  await app.register(geofenceRoutes(dependencies, edit));
  await app.register(isochroneRoute(dependencies));
  await app.register(beaconRoutes(dependencies, edit));
  await app.register(placeRoutes(dependencies, edit));
  await app.register(addressRoutes(dependencies));
  await app.register(settingsRoutes(dependencies, edit));
  await app.register(projectRoutes(dependencies, edit));
  await app.register(accountRoutes(dependencies, edit));
  await app.register(eventRoutes(dependencies));
  await app.register(verificationRoutes(dependencies));
  await app.register(subscriberRoutes(dependencies));
  await app.register(statusRoutes(dependencies));
  await app.register(userRoutes(dependencies));
  await app.register(erasureRoutes(dependencies));
  await app.register(analyticsRoutes(dependencies));
  await app.register(explainRoutes(dependencies));
  await app.register(webhookRoutes(dependencies, edit));
  await app.register(secretRoutes(dependencies, edit));
  await app.register(deliveryRoutes(dependencies));
  await app.register(mapRoutes(dependencies));
  await app.register(mapStyleRoutes(dependencies, edit));
  await app.register(mapMarkerRoutes(dependencies, edit));
};

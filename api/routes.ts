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

/** A Fastify plugin: `await app.register(apiRoutes, deps)`. */
export const apiRoutes: FastifyPluginAsync<ApiDependencies> = async (app, deps) => {
  const edit = createEditor(deps);
  await app.register(geofenceRoutes(deps, edit));
  await app.register(isochroneRoute(deps));
  await app.register(beaconRoutes(deps, edit));
  await app.register(placeRoutes(deps, edit));
  await app.register(addressRoutes(deps));
  await app.register(settingsRoutes(deps, edit));
  await app.register(projectRoutes(deps, edit));
  await app.register(accountRoutes(deps, edit));
  await app.register(eventRoutes(deps));
  await app.register(verificationRoutes(deps));
  await app.register(subscriberRoutes(deps));
  await app.register(statusRoutes(deps));
  await app.register(userRoutes(deps));
  await app.register(erasureRoutes(deps));
  await app.register(analyticsRoutes(deps));
  await app.register(explainRoutes(deps));
  await app.register(webhookRoutes(deps, edit));
  await app.register(secretRoutes(deps, edit));
  await app.register(deliveryRoutes(deps));
  await app.register(mapRoutes(deps));
  await app.register(mapStyleRoutes(deps, edit));
  await app.register(mapMarkerRoutes(deps, edit));
};

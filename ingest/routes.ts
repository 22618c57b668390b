/**
 * Locations in: track, replay and bulk uploads.
 *
 * Flows in: requests of devices (publishable keys) and of backends (secret keys). Flows out: `Location` records, durable
 * on topic `locations` before they are acknowledged, and answers that carry what the location stage made of them.
 */
import type { FastifyPluginAsync } from 'fastify';
import { createDisclosures, type Disclosure } from '../http/access/disclosure.js';
import type { Caller } from '../http/access/keys.js';
import type { User } from '../schemas/json/user.js';
import type { Location } from '../schemas/records.js';
import { bulkRoutes } from './bulk/routes.js';
import type { IngestDependencies } from './dependencies.js';
import { type Admission, createAdmission, createIntake, type Intake } from './intake.js';
import { lastKnownUser } from './last-known.js';
import { trackRoutes } from './track.js';
import { createWaiting, type Waiting } from './waiting.js';

/** What the routes share. */
export interface IngestParts extends IngestDependencies {
  readonly admission: Admission;
  readonly intake: Intake;
  readonly waiting: Waiting;
  /** Returns the user of the last of the locations, without waiting for their outcome. */
  readonly lastKnownUser: (locations: readonly Location[]) => Promise<User>;
  /** Returns what a caller's key may read about users. */
  readonly disclosureFor: (caller: Pick<Caller, 'kind'>) => Disclosure;
}

function createParts(dependencies: IngestDependencies): IngestParts {
  const { log, bounds, metrics, inbox, spatial } = dependencies;
  const admission = createAdmission(bounds);
  return {
    ...dependencies,
    admission,
    intake: createIntake(log, admission, metrics),
    waiting: createWaiting({ inbox, ...bounds }),
    lastKnownUser: (locations) => lastKnownUser(locations, dependencies),
    disclosureFor: createDisclosures((query) => spatial.context(query)),
  };
}

/** A Fastify plugin: `await app.register(ingestRoutes, dependencies)`. */
export const ingestRoutes: FastifyPluginAsync<IngestDependencies> = async (app, dependencies) => {
  const parts = createParts(dependencies);
  await app.register(trackRoutes, parts);
  await app.register(bulkRoutes, parts);
};

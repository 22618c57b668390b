/** What the routes of ingest share. */
import { createDisclosures, type Disclosure } from '../http/access/disclosure.js';
import type { Caller } from '../http/access/keys.js';
import type { User } from '../schemas/json/user.js';
import type { Location } from '../schemas/records.js';
import { fixedIngestBounds, type IngestDependencies } from './dependencies.js';
import { type Admission, createAdmission, createIntake, type Intake } from './intake.js';
import { lastKnownUser } from './last-known.js';
import { createWaiting, type Waiting } from './waiting.js';

export interface IngestParts extends IngestDependencies {
  readonly admission: Admission;
  readonly intake: Intake;
  readonly waiting: Waiting;
  /** Returns the user of the last of the locations, without waiting for their outcome. */
  readonly lastKnownUser: (locations: readonly Location[]) => Promise<User>;
  /** Returns what a caller's key may read about users. */
  readonly disclosureFor: (caller: Pick<Caller, 'kind'>) => Disclosure;
}

/** Creates the shared parts from the dependencies of ingest. */
export function createParts(dependencies: IngestDependencies): IngestParts {
  const { log, metrics, inbox, spatial, tracing } = dependencies;
  const bounds = { ...fixedIngestBounds, ...dependencies.bounds };
  const admission = createAdmission(bounds, metrics);
  return {
    ...dependencies,
    admission,
    intake: createIntake({ log, admission, metrics, tracing }),
    waiting: createWaiting({ inbox, ...bounds }),
    lastKnownUser: (locations) => lastKnownUser(locations, dependencies),
    disclosureFor: createDisclosures((query) => spatial.context(query)),
  };
}

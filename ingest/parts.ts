/** What ingest is given, and what its routes share. */

import { createDisclosures, type Disclosure } from '../http/access/disclosure.js';
import type { Caller } from '../http/access/keys.js';
import type { ConfigurationReader, SpatialQueries } from '../pipeline/catalog/types.js';
import type { Inbox, Log, StateStore } from '../pipeline/ports.js';
import type { User } from '../schemas/json/user.js';
import type { Location } from '../schemas/records.js';
import { type Admission, createAdmission } from './admission.js';
import { createIntake, type Intake } from './intake.js';
import { lastKnownUser } from './last-known.js';
import type { IngestMetrics } from './metrics.js';
import type { RejectionCounter } from './rejections.js';
import { createWaiting, type Waiting } from './waiting.js';

export interface IngestBounds {
  /** How long a track call waits for its events. */
  readonly replyTimeoutMs: number;
  /** Accepted and not yet durable. */
  readonly maxInFlightRecords: number;
  readonly maxInFlightBytes: number;
  /** Track calls that wait at once. */
  readonly maxWaitingRequests: number;
  /** Of /v1/track/replay and /v1/logs. */
  readonly maxReplayBodyBytes: number;
}

export const defaultIngestBounds: IngestBounds = {
  replyTimeoutMs: 2_000,
  maxInFlightRecords: 100_000,
  maxInFlightBytes: 32 * 2 ** 20,
  maxWaitingRequests: 20_000,
  maxReplayBodyBytes: 5 * 2 ** 20,
};

export interface IngestDependencies {
  readonly log: Pick<Log, 'append' | 'partitionOf'>;
  readonly configuration: ConfigurationReader;
  readonly spatial: SpatialQueries;
  readonly inbox: Inbox;
  readonly states: Pick<StateStore, 'load'>;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly bounds: IngestBounds;
  /** Asked before each batch of a bulk upload: resolves when evaluation is near enough behind. */
  readonly paceBulk: () => Promise<void>;
  readonly metrics: IngestMetrics;
  readonly rejections: RejectionCounter;
}

export interface IngestParts extends IngestDependencies {
  readonly admission: Admission;
  readonly intake: Intake;
  readonly waiting: Waiting;
  /** The user that the last of the locations is about, without waiting for their outcome. */
  readonly lastKnownUser: (locations: readonly Location[]) => Promise<User>;
  /** What a caller's key may be told of users. */
  readonly disclosureFor: (caller: Pick<Caller, 'kind'>) => Disclosure;
}

export function createIngestParts(dependencies: IngestDependencies): IngestParts {
  const { log, bounds, metrics, inbox, spatial } = dependencies;
  const admission = createAdmission(bounds);
  return {
    ...dependencies,
    admission,
    intake: createIntake(log, admission, metrics),
    waiting: createWaiting({ inbox, ...bounds }),
    lastKnownUser: (locations) => lastKnownUser(locations, dependencies),
    disclosureFor: createDisclosures((question) => spatial.context(question)),
  };
}

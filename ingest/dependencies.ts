/** What the routes of ingest depend on, and what they share. */
import { createDisclosures, type Disclosure } from '../http/access/disclosure.js';
import type { Caller } from '../http/access/keys.js';
import type { ConfigurationReader, SpatialQueries } from '../pipeline/catalog/types.js';
import type { ExpiringValues, Inbox, Log, StateStore } from '../pipeline/ports.js';
import type { Tracing } from '../pipeline/tracing.js';
import type { User } from '../schemas/json/user.js';
import type { Location } from '../schemas/records.js';
import { type Admission, createAdmission, createIntake, type Intake } from './intake.js';
import { lastKnownUser, userOfDropped } from './last-known.js';
import type { IngestMetrics } from './metrics.js';
import type { RejectionCounter } from './rejections.js';
import { createWaiting, type Waiting } from './waiting.js';

/** Bounds without a setting. */
const fixedIngestBounds = {
  /** Bytes of the locations that are accepted and not yet durable. */
  maxInFlightBytes: 32 * 2 ** 20,
  /** Track calls that wait for their events at the same time. */
  maxWaitingRequests: 20_000,
};

/** Limits of one node. Those without a setting are in {@link fixedIngestBounds}. */
export interface IngestBounds extends Partial<typeof fixedIngestBounds> {
  /** Time that a track call waits for its events. */
  readonly replyTimeoutMs: number;
  /** Locations that are accepted and not yet durable. */
  readonly maxInFlightRecords: number;
  /** Limit of the body of /v1/track/replay. */
  readonly maxReplayBodyBytes: number;
}

/** What the routes of locations work with. */
export interface IngestDependencies {
  readonly log: Pick<Log, 'append' | 'partitionOf'>;
  readonly configuration: ConfigurationReader;
  readonly spatial: Pick<SpatialQueries, 'context'>;
  readonly inbox: Inbox;
  readonly states: Pick<StateStore, 'load'>;
  readonly values: ExpiringValues;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly bounds: IngestBounds;
  /**
   * Called before each batch of a bulk upload. Resolves when the backlog of evaluation is short enough. Rejects when
   * the signal aborts first.
   */
  readonly paceBulk: (signal: AbortSignal) => Promise<void>;
  readonly metrics: IngestMetrics;
  readonly rejections: RejectionCounter;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

/** The dependencies with what the routes make of them, once for all. */
export interface IngestParts extends IngestDependencies {
  readonly admission: Admission;
  readonly intake: Intake;
  readonly waiting: Waiting;
  /** Returns the user of the last of the locations, without waiting for their outcome. */
  readonly lastKnownUser: (locations: readonly Location[]) => Promise<User>;
  /** Returns the user of a location that is dropped. */
  readonly userOfDropped: (location: Location) => Promise<User>;
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
    userOfDropped: (location) => userOfDropped(location, dependencies),
    disclosureFor: createDisclosures((query) => spatial.context(query)),
  };
}

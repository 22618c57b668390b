/** What the routes of ingest depend on. */
import type { ConfigurationReader, SpatialQueries } from '../pipeline/catalog/types.js';
import type { ExpiringValues, Inbox, Log, StateStore } from '../pipeline/ports.js';
import type { Tracing } from '../pipeline/tracing.js';
import type { IngestMetrics } from './metrics.js';
import type { RejectionCounter } from './rejections.js';

/** Bounds without a setting. */
export const fixedIngestBounds = {
  /** Bytes of the locations that are accepted and not yet durable. */
  maxInFlightBytes: 32 * 2 ** 20,
  /** Track calls that wait for their events at the same time. */
  maxWaitingRequests: 20_000,
};

export interface IngestBounds extends Partial<typeof fixedIngestBounds> {
  /** Time that a track call waits for its events. */
  readonly replyTimeoutMs: number;
  /** Locations that are accepted and not yet durable. */
  readonly maxInFlightRecords: number;
  /** Limit of the body of /v1/track/replay. */
  readonly maxReplayBodyBytes: number;
}

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

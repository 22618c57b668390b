/**
 * The location stage: every accepted location changes its device's state exactly once, in partition order; every event
 * is published at least once, always under the same id with the same bytes.
 *
 * Input: topic `locations`, one batch of one partition at a time. Partitions run concurrently, so that the commit of
 * one overlaps the evaluation of another. Output: states and topics `outcomes`, `events` and `dead-letters`, in one
 * commit per batch; then replies to waiting requests. `apply-batch.ts` has the steps.
 */
import { type Codecs, codecs as fixedCodecs } from '../../../schemas/codecs.js';
import { ignoreCache, type ObserveCache } from '../../cache-use.js';
import type { Catalog, SpatialQueries } from '../../catalog/types.js';
import { createFailure } from '../../failure.js';
import { type Log, type Replies, type StateStore, type Subscription, topics } from '../../ports.js';
import type { Tracing } from '../../tracing.js';
import { Breaker } from '../breaker.js';
import { watchClaims } from '../claim-watch.js';
import { ClaimedPartitions, reclaimBounds } from '../claimed-partitions.js';
import { type Metrics, noMetrics } from '../metrics.js';
import { createClaimedPartitionAlerts, type PartitionAlert } from '../partition-alerts.js';
import { createApplyBatch } from './apply-batch.js';
import { PartitionOwner } from './device-states.js';
import { createReplySender } from './reply-sender.js';

/** Bounds without a setting. */
const fixedBounds = {
  ...reclaimBounds,
  /**
   * Bytes of outcomes and events after which a commit takes no more locations. One location may enter and leave a
   * thousand geofences each, and then has a megabyte of events.
   */
  maxCommitBytes: 16 * 2 ** 20,
  /**
   * Time of evaluation after which a commit takes no more locations. Other partitions and queries then get their turn.
   * One location among 20,000 overlapping geofences takes up to a tenth of a second.
   */
  maxEvaluationMs: 250,
};

/** Bounds of the stage. */
export interface LocationStageBounds extends Partial<typeof fixedBounds> {
  /** A larger batch makes commits cheaper; a smaller one answers waiting requests sooner. */
  readonly maxBatchRecords: number;
  /** Decoded device states in memory, about 1 kB each. Other devices cost a read of the store per batch. */
  readonly maxCachedDevices: number;
  /** Maximum share of dead letters among the latest records of a partition; beyond it the partition is halted. */
  readonly maxDeadLetterShare: number;
}

/** What the stage uses. Closing the stage closes none of it. */
export interface LocationStageParts {
  readonly log: Log;
  readonly states: StateStore;
  readonly catalog: Catalog;
  /**
   * Resolves when the read model under the catalog has applied every change acknowledged before the call. Absent where
   * a change is only acknowledged once the read model shows it.
   */
  readonly catchUp?: (() => Promise<void>) | undefined;
  readonly replies: Replies;
  /** Epoch ms. For metrics only: evaluation uses the times of locations. */
  readonly clock: () => number;
  /** Finds nearby geofences for SDKs that request them; without it replies have none. */
  readonly searchGeofences?: SpatialQueries['searchGeofences'];
  readonly onAlert?: (alert: PartitionAlert) => void;
  readonly metrics?: Metrics;
  readonly observeCache?: ObserveCache;
  readonly tracing?: Tracing | undefined;
  readonly bounds: LocationStageBounds;
  readonly codecs?: Codecs;
}

/** Consumer group of topic `locations`. */
export const locationStageGroup = 'location-stage';

/** Starts the stage. `done` rejects on anything unexpected. A partition with mostly dead letters is halted. */
export function createLocationStage(parts: LocationStageParts): Subscription {
  const { log, states } = parts;
  const { onAlert = () => {}, metrics = noMetrics, observeCache = ignoreCache, codecs = fixedCodecs } = parts;
  const bounds = { ...fixedBounds, ...parts.bounds };
  const fencedCounter = 'location_partitions_fenced_total';
  const alerts = createClaimedPartitionAlerts({ topic: topics.locations, metrics, onAlert, fencedCounter });
  const failure = createFailure();
  const sender = createReplySender({
    ...parts,
    configuration: parts.catalog.configuration,
    onFailure: failure.fail,
  });
  const applyBatch = createApplyBatch({ ...parts, ...bounds, codecs, sender, alerts, metrics, observeCache });
  const partitions = new ClaimedPartitions<PartitionOwner>({
    ...bounds,
    log,
    topic: topics.locations,
    alerts,
    claim: async (partition) =>
      new PartitionOwner(await states.claim(partition), new Breaker(bounds.maxDeadLetterShare)),
    verify: (owners) => states.verify(owners.map(({ claim }) => claim)),
    apply: applyBatch,
    pass: (owner, position) => owner.commit(states, position, { states: new Map(), publish: [] }),
  });

  const subscription = log.consume({
    topic: topics.locations,
    group: locationStageGroup,
    maxBatchRecords: bounds.maxBatchRecords,
    maxWaitMs: 0,
    handler: partitions,
  });
  const endWatch = watchClaims({
    verify: () => partitions.verifyClaims(),
    onReturn: states.onReturn,
    onFailure: failure.fail,
  });
  return {
    done: Promise.race([failure.failed, subscription.done]),
    async close() {
      endWatch();
      await subscription.close();
      await sender.idle();
    },
  };
}

/**
 * The location stage: every accepted location changes its device's state exactly once, in partition order; every event
 * is published at least once, always under the same id with the same bytes.
 *
 * Input: topic `locations`, one batch of one partition at a time. Partitions run concurrently, so that the commit of
 * one overlaps the evaluation of another. Output: states and topics `outcomes`, `events` and `dead-letters`, in one
 * commit per batch; then replies to waiting requests. `apply-batch.ts` has the steps; this file owns the partitions.
 *
 */
import { type Codecs, codecs as fixedCodecs } from '../../../schemas/codecs.js';
import { ignoreCache, type ObserveCache } from '../../cache-use.js';
import type { Catalog, SpatialQueries } from '../../catalog/types.js';
import { createFailure } from '../../failure.js';
import {
  type ClaimState,
  type Divergence,
  type HandOverResult,
  type Log,
  type LogRecord,
  type Position,
  type Replies,
  type StateStore,
  type Subscription,
  topics,
} from '../../ports.js';
import { describeDivergence, findDivergence, isSamePosition } from '../../positions.js';
import type { Tracing } from '../../tracing.js';
import { Breaker } from '../breaker.js';
import { claimReplaced, watchClaims } from '../claim-watch.js';
import { dueRecords, missedRecords } from '../due-records.js';
import { type Metrics, noMetrics } from '../metrics.js';
import { PartitionMutex } from '../partition-mutex.js';
import { reclaimBounds, waitBeforeReclaim } from '../reclaim.js';
import { createAlerts, type LocationStageAlert } from './alerts.js';
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
  readonly onAlert?: (alert: LocationStageAlert) => void;
  readonly metrics?: Metrics;
  readonly observeCache?: ObserveCache;
  readonly tracing?: Tracing | undefined;
  readonly bounds: LocationStageBounds;
  readonly codecs?: Codecs;
}

const positionOf = ({ claim: { nextOffset, mark } }: PartitionOwner): Position => ({ offset: nextOffset, mark });

/** Consumer group of topic `locations`. */
export const locationStageGroup = 'location-stage';

/** Starts the stage. `done` rejects on anything unexpected. A partition with mostly dead letters is halted. */
export function createLocationStage(parts: LocationStageParts): Subscription {
  const { log, states, clock } = parts;
  const { onAlert = () => {}, metrics = noMetrics, observeCache = ignoreCache, codecs = fixedCodecs } = parts;
  const bounds = { ...fixedBounds, ...parts.bounds };
  const alerts = createAlerts({ metrics, onAlert, clock });
  const failure = createFailure();
  const sender = createReplySender({
    ...parts,
    configuration: parts.catalog.configuration,
    onFailure: failure.fail,
  });
  const applyBatch = createApplyBatch({
    ...parts,
    codecs,
    sender,
    alerts,
    observeCache,
    maxCachedDevices: bounds.maxCachedDevices,
    maxCommitBytes: bounds.maxCommitBytes,
  });
  const owners = new Map<number, PartitionOwner>();
  const mutex = new PartitionMutex();

  const subscription = log.consume({
    topic: topics.locations,
    group: locationStageGroup,
    maxBatchRecords: bounds.maxBatchRecords,
    maxWaitMs: 0,
    handler: {
      assigned: async (partition, isAssigned) => positionOf(await claim(partition, isAssigned)),
      records: (partition, records) =>
        mutex.run(partition, () => applyRecords(partition, (records.at(-1) as LogRecord).offset + 1, records)),
      diverged: (partition, divergence) => mutex.run(partition, () => waitForRepair(partition, divergence)),
      // Nothing to finish: the log waits for `records`, whose effects are committed.
      revoked: async (partition) => void owners.delete(partition),
    },
  });
  const endWatch = watchClaims({ verify: verifyClaims, onReturn: states.onReturn, onFailure: failure.fail });
  return {
    done: Promise.race([failure.failed, subscription.done]),
    async close() {
      endWatch();
      await subscription.close();
      await sender.idle();
    },
  };

  async function claim(partition: number, isAssigned: () => boolean): Promise<PartitionOwner> {
    const owner = new PartitionOwner(await states.claim(partition), isAssigned, new Breaker(bounds.maxDeadLetterShare));
    owners.set(partition, owner);
    return owner;
  }

  /**
   * Claims the partition again. The log compares positions on assignment only, so this compares them as well; it throws
   * on a divergence, and the next process halts the partition.
   */
  async function reclaim(partition: number, isAssigned: () => boolean): Promise<PartitionOwner> {
    const owner = await claim(partition, isAssigned);
    const divergence = await findDivergence(log, topics.locations, partition, positionOf(owner));
    if (divergence !== undefined) throw new Error(describeDivergence(divergence));
    return owner;
  }

  /** Verifies the claims of idle partitions. Busy ones learn of a lost claim by their next commit. */
  async function verifyClaims(): Promise<void> {
    const idle = [...owners.values()].filter(
      (owner) => !owner.isDiverged && owner.isAssigned() && !mutex.isLocked(owner.claim.partition),
    );
    const found = await states.verify(idle.map((owner) => owner.claim));
    await Promise.all(
      idle.map(async (owner, index) => {
        const state = found[index] as ClaimState;
        if (state === 'held' || state === 'unknown') return;
        await mutex.run(owner.claim.partition, () => recover(owner, state));
      }),
    );
  }

  /** Reclaims the partition, and applies lost locations again at once. */
  async function recover(lost: PartitionOwner, state: 'claimed' | 'fallen_back'): Promise<void> {
    const { partition } = lost.claim;
    if (owners.get(partition) !== lost) return;
    if (state === 'fallen_back') alerts.fallenBack(partition, lost.nextOffset);
    else {
      alerts.fenced(partition, lost.nextOffset);
      await waitBeforeReclaim(bounds);
    }
    if (!lost.isAssigned() || owners.get(partition) !== lost) return;
    await reclaim(partition, lost.isAssigned);
    await applyRecords(partition, lost.nextOffset, []);
  }

  /** Waits until the position was repaired. */
  async function waitForRepair(partition: number, divergence: Divergence): Promise<Position> {
    const owner = owners.get(partition);
    if (owner === undefined) return divergence.position;
    // The position may have been repaired while the log compared it. This partition may have been claimed again since,
    // and nobody would replace that claim.
    if (!isSamePosition(await states.position(partition), divergence.position))
      return positionOf(await claim(partition, owner.isAssigned));
    alerts.diverged(divergence);
    owner.isDiverged = true;
    try {
      const isStillAssigned = () => owner.isAssigned() && owners.get(partition) === owner;
      const verify = async () => (await states.verify([owner.claim]))[0] as ClaimState;
      const isReplaced = await claimReplaced(verify, isStillAssigned);
      return isReplaced ? positionOf(await claim(partition, owner.isAssigned)) : divergence.position;
    } finally {
      alerts.noLongerDiverged(divergence);
    }
  }

  /**
   * Applies the records up to `end`, and before them records that a store has lost by falling back. Reclaims the
   * partition after a refused commit, unless it was reassigned to another process.
   */
  async function applyRecords(partition: number, end: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    const { maxBatchRecords } = bounds;
    let owner = owners.get(partition);
    let refusals = 0;
    // A partition without an owner here was reassigned to another process.
    while (owner !== undefined && owner.nextOffset < end) {
      const due =
        records.length > 0
          ? await dueRecords(log, topics.locations, owner.nextOffset, records, maxBatchRecords)
          : await missedRecords(log, topics.locations, partition, { from: owner.nextOffset, end }, maxBatchRecords);
      if (due.length === 0) return;
      const result = await applyBatch(owner, due);
      if (result === 'halted') return result;
      if (result === 'committed') {
        refusals = 0;
        continue;
      }
      alerts.fenced(partition, owner.nextOffset);
      refusals += 1;
      if (refusals === bounds.maxFencedAttempts)
        throw new Error(`partition ${partition} was claimed by others ${refusals} times in a row`);
      await waitBeforeReclaim(bounds);
      if (!owner.isAssigned()) return;
      owner = await reclaim(partition, owner.isAssigned);
    }
  }
}

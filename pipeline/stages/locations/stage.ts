/**
 * The location stage: every accepted location changes its device's state exactly once, in partition order, and every
 * event that this causes is published at least once, always under the same id with the same bytes.
 *
 * Flows in: topic `locations`, one batch of one partition at a time; partitions run concurrently, so that the commit of
 * one overlaps the evaluation of another. Flows out: states, and topics `outcomes`, `events` and `dead-letters`, in one
 * commit per batch; then the replies to those who wait. May import: schemas, the other rooms of the pipeline, the
 * ports.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Codecs, codecs as fixedCodecs } from '../../../schemas/codecs.js';
import type { Catalog, SpatialQueries } from '../../catalog/types.js';
import {
  type ClaimState,
  type CommitResult,
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
import { describeDivergence, findDivergence, markOf } from '../../positions.js';
import { Breaker, defaultMaxDeadLetterShare } from '../breaker.js';
import { claimReplaced, watchClaims } from '../claim-watch.js';
import { dueRecords, missedRecords } from '../due-records.js';
import { createFailure } from '../failure.js';
import { type Metrics, noMetrics } from '../metrics.js';
import { PartitionMutex } from '../partition-mutex.js';
import { createBatchEvaluator } from './batch.js';
import { decodeBatch } from './decode.js';
import { DeviceCache, Ownership } from './devices.js';
import { createDefinitions } from './events.js';
import { type Answered, eventsReply, trackReply } from './reply.js';
import { createReporter, type LocationStageProblem } from './report.js';

/** Nothing grows past these. */
export interface LocationStageBounds {
  /** More amortizes the commit better; fewer answer waiting requests sooner. */
  readonly maxBatchRecords: number;
  /** How long a batch may wait to fill. Above 0, replies wait as long. */
  readonly maxWaitMs: number;
  /** Decoded device states in memory, about 1 kB each. Devices beyond it cost a read of the store per batch. */
  readonly maxCachedDevices: number;
  /**
   * Refusals of one batch in a row after which the process gives up: two owners must be fighting over the partition.
   */
  readonly maxFencedTries: number;
  /** About so long is waited before a partition is claimed again. */
  readonly reclaimDelayMs: number;
  /** Of the latest records of a partition; past it the partition is halted. */
  readonly maxDeadLetterShare: number;
}

export const defaultLocationStageBounds: LocationStageBounds = {
  maxBatchRecords: 5_000,
  maxWaitMs: 0,
  maxCachedDevices: 200_000,
  maxFencedTries: 10,
  reclaimDelayMs: 1_000,
  maxDeadLetterShare: defaultMaxDeadLetterShare,
};

export interface LocationStageParts {
  readonly log: Log;
  readonly states: StateStore;
  readonly catalog: Catalog;
  /**
   * Resolves when the read model under the catalog has applied every change that was acknowledged before the call.
   * Absent where a change is only acknowledged once the
   * read model shows it.
   */
  readonly catchUp?: (() => Promise<void>) | undefined;
  readonly replies: Replies;
  /** Epoch ms. Only for what is measured: evaluation and its answers know no time but the locations'. */
  readonly clock: () => number;
  /** Answers nearby geofences to SDKs that ask for them; without it they hear nothing of any. */
  readonly searchGeofences?: SpatialQueries['searchGeofences'];
  readonly onProblem?: (problem: LocationStageProblem) => void;
  readonly metrics?: Metrics;
  readonly bounds?: Partial<LocationStageBounds>;
  readonly codecs?: Codecs;
}

const positionOf = ({ claim: { nextOffset, mark } }: Ownership): Position => ({ offset: nextOffset, mark });

/** The consumers that share the partitions of topic `locations`. */
export const locationStageGroup = 'location-stage';

/** Starts the stage. `done` rejects on anything unexpected. A partition that yields mostly dead letters is halted. */
export function createLocationStage(parts: LocationStageParts): Subscription {
  const { log, states, catalog, replies, clock } = parts;
  const { onProblem = () => {}, metrics = noMetrics, codecs = fixedCodecs } = parts;
  const bounds = { ...defaultLocationStageBounds, ...parts.bounds };
  const deviceCache = new DeviceCache(states, bounds.maxCachedDevices);
  const definitions = createDefinitions(catalog.configuration);
  const evaluateBatch = createBatchEvaluator({ codecs, catalog, definitions, clock });
  const report = createReporter({ metrics, onProblem, clock });
  const owners = new Map<number, Ownership>();
  const mutex = new PartitionMutex();

  const subscription = log.consume({
    topic: topics.locations,
    group: locationStageGroup,
    maxBatchRecords: bounds.maxBatchRecords,
    maxWaitMs: bounds.maxWaitMs,
    handler: {
      assigned: async (partition, isOurs) => positionOf(await claim(partition, isOurs)),
      records: (partition, records) =>
        mutex.take(partition, () => applyAll(partition, (records.at(-1) as LogRecord).offset + 1, records)),
      diverged: (partition, divergence) => mutex.take(partition, () => repaired(partition, divergence)),
      // Nothing to finish: the log waits for `records`, and what they did is committed.
      revoked: async (partition) => void owners.delete(partition),
    },
  });
  const failure = createFailure();
  const endWatch = watchClaims({ verify: verifyClaims, onReturn: states.onReturn, onFailure: failure.fail });
  return {
    done: Promise.race([failure.failed, subscription.done]),
    async close() {
      endWatch();
      await subscription.close();
    },
  };

  async function claim(partition: number, isOurs: () => boolean): Promise<Ownership> {
    const owner = new Ownership(await states.claim(partition), isOurs, new Breaker(bounds.maxDeadLetterShare));
    owners.set(partition, owner);
    return owner;
  }

  /**
   * In the middle of work; the log compares only what `assigned` answers. Throws when it leads to another log: the next
   * process halts the partition.
   */
  async function claimAgain(partition: number, isOurs: () => boolean): Promise<Ownership> {
    const owner = await claim(partition, isOurs);
    const divergence = await findDivergence(log, topics.locations, partition, positionOf(owner));
    if (divergence !== undefined) throw new Error(describeDivergence(divergence));
    return owner;
  }

  /** Compares the claims of partitions that nothing happens to. Those that work hear of it by their next commit. */
  async function verifyClaims(): Promise<void> {
    const idle = [...owners.values()].filter(
      (owner) => !owner.isDiverged && owner.isOurs() && !mutex.isTaken(owner.claim.partition),
    );
    const found = await states.verify(idle.map((owner) => owner.claim));
    await Promise.all(
      idle.map(async (owner, index) => {
        const state = found[index] as ClaimState;
        if (state === 'held' || state === 'unknown') return;
        await mutex.take(owner.claim.partition, () => recover(owner, state));
      }),
    );
  }

  /** Claims the partition anew, and applies again at once what the store has forgotten. */
  async function recover(lost: Ownership, state: 'claimed' | 'fallen_back'): Promise<void> {
    const { partition } = lost.claim;
    if (owners.get(partition) !== lost) return;
    if (state === 'fallen_back') report.fallenBack(partition, lost.nextOffset);
    else {
      report.fenced(partition, lost.nextOffset);
      await delay(bounds.reclaimDelayMs * (0.5 + Math.random()));
    }
    if (!lost.isOurs() || owners.get(partition) !== lost) return;
    await claimAgain(partition, lost.isOurs);
    await applyAll(partition, lost.nextOffset, []);
  }

  /** Resolves to the position that somebody has put in place of one that the log doesn't lead to. */
  async function repaired(partition: number, divergence: Divergence): Promise<Position> {
    const owner = owners.get(partition);
    if (owner === undefined) return divergence.position;
    report.diverged(divergence);
    owner.isDiverged = true;
    try {
      const isStillOurs = () => owner.isOurs() && owners.get(partition) === owner;
      const verify = async () => (await states.verify([owner.claim]))[0] as ClaimState;
      const isReplaced = await claimReplaced(verify, isStillOurs);
      return isReplaced ? positionOf(await claim(partition, owner.isOurs)) : divergence.position;
    } finally {
      report.diverged(divergence, true);
    }
  }

  /**
   * Applies the records, and before them what a store that fell back has forgotten, up to `end`, claiming the partition
   * anew as often as a commit is refused, unless it has gone to another process meanwhile.
   */
  async function applyAll(partition: number, end: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    let owner = owners.get(partition);
    let refusals = 0;
    // A partition without an owner here has left for another process.
    while (owner !== undefined && owner.nextOffset < end) {
      const due =
        records.length > 0
          ? await dueRecords(log, topics.locations, owner.nextOffset, records, bounds.maxBatchRecords)
          : await missedRecords(
              log,
              topics.locations,
              partition,
              { from: owner.nextOffset, end },
              bounds.maxBatchRecords,
            );
      if (due.length === 0) return;
      const result = await apply(owner, due);
      if (result === 'halted') return result;
      if (result === 'committed') {
        refusals = 0;
        continue;
      }
      report.fenced(partition, owner.nextOffset);
      refusals += 1;
      if (refusals === bounds.maxFencedTries)
        throw new Error(`partition ${partition} was claimed by others ${refusals} times in a row`);
      // Who was paused for long is refused before it hears that the partition has gone to another, whom a claim of ours
      // would disturb.
      await delay(bounds.reclaimDelayMs * (0.5 + Math.random()));
      if (!owner.isOurs()) return;
      owner = await claimAgain(partition, owner.isOurs);
    }
  }

  /** One batch, from records to replies. Unless it is committed, nothing has happened. */
  async function apply(owner: Ownership, records: readonly LogRecord[]): Promise<CommitResult | 'halted'> {
    const startedAtMs = clock();
    const batch = decodeBatch(codecs.location, records);
    // After the batch was fetched, so that a location appended after a change of configuration is judged by it.
    const [devices] = await Promise.all([deviceCache.load(owner, batch.deviceKeys), parts.catchUp?.()]);
    catalog.catchUp();
    definitions.catchUp();
    const effects = evaluateBatch(batch, devices);
    const tooMany = owner.breaker.pass(records, effects.deadLetters);
    if (tooMany !== undefined) {
      report.halted(owner.claim.partition, tooMany);
      return 'halted';
    }
    const last = records.at(-1) as LogRecord;
    const nextOffset = last.offset + 1;
    const result = await states.commit(owner.claim, {
      expectedOffset: owner.nextOffset,
      nextOffset,
      mark: markOf(last),
      states: effects.states,
      publish: effects.publish,
    });
    if (result === 'fenced') return result;
    owner.nextOffset = nextOffset;
    report.committed(records, effects, startedAtMs);
    const latest = new Map(effects.answered.map((answered) => [answered.replyTo, answered]));
    await Promise.all(effects.answered.map((answered) => reply(answered, latest.get(answered.replyTo) === answered)));
    return result;
  }

  async function reply(answered: Answered, isLatest: boolean): Promise<void> {
    const sources = { ...parts, configuration: catalog.configuration };
    const body = isLatest ? await trackReply(answered, sources) : eventsReply(answered);
    replies.send(answered.replyTo, JSON.stringify(body));
  }
}

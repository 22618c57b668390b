/**
 * Measures the backlog: accepted locations that are not evaluated yet. It compares the end of the log with the applied
 * offsets, which the location stage shares in memory or the state store answers.
 */
import type { Registry } from 'prom-client';
import type { PipelineLag } from '../api/dependencies.js';
import { type Log, type StateStore, topics } from '../pipeline/ports.js';
import { readOne } from '../pipeline/positions.js';
import { addGauge, addPartitionGauge } from './metrics.js';

/** Per partition, the offset of the next location to apply; shared between threads. */
export type AppliedOffsets = BigInt64Array;

/** Creates offsets that threads share: of each partition, that of the next location to apply. */
export const newAppliedOffsets = (partitions: number): AppliedOffsets =>
  new BigInt64Array(new SharedArrayBuffer(partitions * BigInt64Array.BYTES_PER_ELEMENT));

/** Wraps a state store so that claims and commits update the applied offsets. */
export function recordingApplied(states: StateStore, applied: AppliedOffsets): StateStore {
  const record = (partition: number, nextOffset: number) => Atomics.store(applied, partition, BigInt(nextOffset));
  return {
    ...states,
    async claim(partition) {
      const claim = await states.claim(partition);
      record(partition, claim.nextOffset);
      return claim;
    },
    async commit(claim, commit) {
      const result = await states.commit(claim, commit);
      if (result === 'committed') record(claim.partition, commit.nextOffset);
      return result;
    },
  };
}

/** The progress of evaluation, by partition. */
export interface Progress {
  /** Accepted locations that are not evaluated yet. */
  readonly waitingRecords: readonly number[];
  /** Total of applied locations. Only the growth is meaningful. */
  readonly appliedRecords: readonly number[];
}

/** Returns the sum over all partitions. */
export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Computes the progress from the offset of the next location to apply, per partition, and the ends of the log. */
export async function progressAt(log: Pick<Log, 'end'>, nextOffsets: readonly number[]): Promise<Progress> {
  const ends = await Promise.all(nextOffsets.map((_, partition) => log.end(topics.locations, partition)));
  return {
    waitingRecords: ends.map((end, partition) => Math.max(0, end - (nextOffsets[partition] as number))),
    appliedRecords: nextOffsets,
  };
}

/** Returns the offsets of all partitions at this moment. */
export const offsetsOf = (applied: AppliedOffsets): number[] =>
  Array.from(applied, (_, partition) => Number(Atomics.load(applied, partition)));

/** Reads the progress from the offsets that the location stage shares. */
export const sharedProgress =
  (log: Pick<Log, 'end'>, applied: AppliedOffsets): (() => Promise<Progress>) =>
  () =>
    progressAt(log, offsetsOf(applied));

/** Registers the gauges of waiting locations, which read the progress on each scrape. */
export function addBacklogMetrics(registry: Registry, progress: () => Promise<Progress>): void {
  addGauge(registry, {
    name: 'location_backlog_records',
    help: 'Accepted locations that are not evaluated yet.',
    read: async () => sum((await progress()).waitingRecords),
  });
  addPartitionGauge(registry, {
    name: 'location_partition_backlog_records',
    help: 'Accepted locations that are not evaluated yet, by partition. All processes of a cluster report the same.',
    read: async () => (await progress()).waitingRecords,
  });
}

/** Computes how far evaluation is behind: the waiting locations, and the age of the oldest. */
export async function lagAt(
  log: Pick<Log, 'end' | 'read'>,
  nextOffsets: readonly number[],
  nowMs: number,
): Promise<PipelineLag> {
  const { waitingRecords } = await progressAt(log, nextOffsets);
  const oldest = await Promise.all(
    waitingRecords.map(async (waiting, partition) => {
      if (waiting === 0) return undefined;
      return (await readOne(log, topics.locations, partition, nextOffsets[partition]!))?.timestamp;
    }),
  );
  const oldestMs = Math.min(nowMs, ...oldest.filter((timeMs) => timeMs !== undefined));
  return { waitingLocations: sum(waitingRecords), lagMs: nowMs - oldestMs };
}

/** Limits `read` to one call per interval. Callers in between share its answer. */
export function atMostEvery<Answer>(intervalMs: number, read: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  return () => {
    answer ??= read().finally(() => {
      const timer = setTimeout(() => {
        answer = undefined;
      }, intervalMs);
      timer.unref();
    });
    return answer;
  };
}

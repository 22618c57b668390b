/**
 * How far evaluation is behind acceptance. Where offsets have been applied up to is shared by the stage's thread, or
 * asked of the state store; it is compared with the end of the log.
 */
import { type Log, type StateStore, topics } from '../pipeline/ports.js';

/** Per partition, the offset of the next location to apply; shared between threads. */
export type AppliedOffsets = BigInt64Array;

export const newAppliedOffsets = (partitions: number): AppliedOffsets =>
  new BigInt64Array(new SharedArrayBuffer(partitions * BigInt64Array.BYTES_PER_ELEMENT));

/** The store, telling what it has been made to apply. */
export function tellingApplied(states: StateStore, applied: AppliedOffsets): StateStore {
  const tell = (partition: number, nextOffset: number) => Atomics.store(applied, partition, BigInt(nextOffset));
  return {
    ...states,
    async claim(partition) {
      const claim = await states.claim(partition);
      tell(partition, claim.nextOffset);
      return claim;
    },
    async commit(claim, commit) {
      const result = await states.commit(claim, commit);
      if (result === 'committed') tell(claim.partition, commit.nextOffset);
      return result;
    },
  };
}

/** How far evaluation has come, by partition. */
export interface Progress {
  /** Accepted locations that wait to be evaluated. */
  readonly waitingRecords: readonly number[];
  /** Locations ever applied: only its growth means something. */
  readonly appliedRecords: readonly number[];
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** From the offset of the next location to apply, per partition, and the ends of the log. */
export async function progressAt(log: Pick<Log, 'end'>, nextOffsets: readonly number[]): Promise<Progress> {
  const ends = await Promise.all(nextOffsets.map((_, partition) => log.end(topics.locations, partition)));
  return {
    waitingRecords: ends.map((end, partition) => Math.max(0, end - (nextOffsets[partition] as number))),
    appliedRecords: nextOffsets,
  };
}

/** What the stage's thread shares. */
export const sharedProgress =
  (log: Pick<Log, 'end'>, applied: AppliedOffsets): (() => Promise<Progress>) =>
  () =>
    progressAt(
      log,
      Array.from(applied, (_, partition) => Number(Atomics.load(applied, partition))),
    );

/** Asks at most once per interval, and not again before it was answered, however many wait for the answer. */
export function askedEvery(intervalMs: number, read: () => Promise<Progress>): () => Promise<Progress> {
  let answer: Promise<Progress> | undefined;
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

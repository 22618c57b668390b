/**
 * How far evaluation is behind acceptance, and slowing bulk uploads down by it.
 *
 * The log takes locations several times faster than they can be evaluated. Without a bound one upload of millions would stand in front of every track
 * call, for minutes. Where offsets have been applied up to is shared by the stage's thread, or asked of the state store; it is compared with the end of the log.
 */
import { setTimeout } from 'node:timers/promises';
import { type Log, type StateStore, topics } from '../../pipeline/ports.js';

/** Per partition, the offset of the next location to apply; shared between threads. */
export type AppliedOffsets = BigInt64Array;

export const newAppliedOffsets = (partitions: number): AppliedOffsets =>
  new BigInt64Array(new SharedArrayBuffer(partitions * BigInt64Array.BYTES_PER_ELEMENT));

/** The store, telling what it has been made to apply. */
export function tellingApplied(states: StateStore, applied: AppliedOffsets): StateStore {
  const tell = (partition: number, nextOffset: number) => Atomics.store(applied, partition, BigInt(nextOffset));
  return {
    load: (partition, keys) => states.load(partition, keys),
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

/** How far evaluation has come, over all partitions. */
export interface Progress {
  /** Accepted locations that wait to be evaluated. */
  readonly waitingRecords: number;
  /** Locations ever applied: only its growth means something. */
  readonly appliedRecords: number;
}

/** From the offset of the next location to apply, per partition, and the ends of the log. */
export async function progressAt(log: Pick<Log, 'bounds'>, nextOffsets: readonly number[]): Promise<Progress> {
  const ends = await Promise.all(nextOffsets.map(async (_, partition) => (await log.bounds(topics.locations, partition)).end));
  return {
    waitingRecords: ends.reduce((sum, end, partition) => sum + Math.max(0, end - (nextOffsets[partition] as number)), 0),
    appliedRecords: nextOffsets.reduce((sum, offset) => sum + offset, 0),
  };
}

/** What the stage's thread shares. */
export const sharedProgress =
  (log: Pick<Log, 'bounds'>, applied: AppliedOffsets): (() => Promise<Progress>) =>
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
      const timer = globalThis.setTimeout(() => {
        answer = undefined;
      }, intervalMs);
      timer.unref();
    });
    return answer;
  };
}

const lookAgainMs = 5;
/** What a track call may have to wait behind uploads. */
const maxDelayMs = 500;
const measureEveryMs = 250;
/** So many keep the stage busy while its rate is not known yet. */
const minRecords = 2_000;

/**
 * Resolves when no more than `maxRecords` wait, and no more than are evaluated within half a second: among many overlapping fences a location takes
 * ten times as long as usual.
 */
export function createPacing(progress: () => Promise<Progress>, maxRecords: number): () => Promise<void> {
  let recordsPerMs = 0;
  let measured: { readonly atMs: number; readonly records: number } | undefined;

  function measure({ appliedRecords }: Progress): void {
    const now = { atMs: performance.now(), records: appliedRecords };
    measured ??= now;
    if (now.atMs - measured.atMs < measureEveryMs) return;
    recordsPerMs = (now.records - measured.records) / (now.atMs - measured.atMs);
    measured = now;
  }

  return async () => {
    for (;;) {
      const now = await progress();
      measure(now);
      const limit = Math.min(maxRecords, Math.max(minRecords, recordsPerMs * maxDelayMs));
      if (now.waitingRecords <= limit) return;
      await setTimeout(lookAgainMs);
    }
  };
}

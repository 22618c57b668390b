/**
 * How far evaluation is behind acceptance, and slowing bulk uploads down by it.
 *
 * The log takes locations several times faster than they can be evaluated. Without a bound one upload of millions would stand in front of every track
 * call, for minutes. The stage's thread shares the offsets it has applied; the main thread compares them with the end of the log.
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

/** Accepted locations that wait to be evaluated. */
export async function backlogRecords(log: Pick<Log, 'bounds'>, applied: AppliedOffsets): Promise<number> {
  const waiting = await Promise.all(
    Array.from(applied, async (_, partition) => {
      const { end } = await log.bounds(topics.locations, partition);
      return Math.max(0, end - Number(Atomics.load(applied, partition)));
    }),
  );
  return waiting.reduce((sum, records) => sum + records, 0);
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
export function createPacing(log: Pick<Log, 'bounds'>, applied: AppliedOffsets, maxRecords: number): () => Promise<void> {
  let recordsPerMs = 0;
  let measured = { atMs: performance.now(), records: appliedRecords(applied) };

  function measure(): void {
    const now = { atMs: performance.now(), records: appliedRecords(applied) };
    if (now.atMs - measured.atMs < measureEveryMs) return;
    recordsPerMs = (now.records - measured.records) / (now.atMs - measured.atMs);
    measured = now;
  }

  return async () => {
    for (;;) {
      measure();
      const limit = Math.min(maxRecords, Math.max(minRecords, recordsPerMs * maxDelayMs));
      if ((await backlogRecords(log, applied)) <= limit) return;
      await setTimeout(lookAgainMs);
    }
  };
}

const appliedRecords = (applied: AppliedOffsets): number => applied.reduce((sum, offset) => sum + Number(offset), 0);

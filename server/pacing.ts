/**
 * Slows bulk uploads down by how far evaluation is behind.
 *
 * The log takes locations several times faster than they can be evaluated. Without a bound one upload of millions would
 * stand in front of every track call, for minutes. What stands still for long is not waited for, as long as something
 * else moves or has nothing to do: a halted partition must not hold up the uploads to all others.
 */
import { setTimeout } from 'node:timers/promises';
import { type Progress, sum } from './backlog.js';

const lookAgainMs = 5;
/** What a track call may have to wait behind uploads. */
const maxDelayMs = 500;
const measureEveryMs = 250;
/** So many keep the stage busy while its rate is not known yet. */
const minRecords = 2_000;
/** Longer than a partition takes to get a new owner. */
const standsAfterMs = 30_000;

/** Locations that wait where evaluation goes on; all that wait, where it goes on nowhere. */
export function createMovingBacklog(): (progress: Progress, nowMs: number) => number {
  let last: Progress | undefined;
  /** When each partition was last seen to move, or to have nothing to do. */
  const goodAtMs: number[] = [];

  return (progress, nowMs) => {
    const { waitingRecords, appliedRecords } = progress;
    const moving = waitingRecords.filter((waiting, partition) => {
      const isGood =
        waiting === 0 ||
        !last?.waitingRecords[partition] ||
        last.appliedRecords[partition] !== appliedRecords[partition];
      if (isGood) goodAtMs[partition] = nowMs;
      return nowMs - (goodAtMs[partition] as number) < standsAfterMs;
    });
    last = progress;
    return sum(moving.length > 0 ? moving : waitingRecords);
  };
}

/**
 * Resolves when no more than `maxRecords` wait, and no more than are evaluated within half a second: among many
 * overlapping fences a location takes ten times as long as usual.
 */
export function createPacing(progress: () => Promise<Progress>, maxRecords: number): () => Promise<void> {
  const backlogOf = createMovingBacklog();
  let recordsPerMs = 0;
  let measured: { readonly atMs: number; readonly records: number } | undefined;

  function measure({ appliedRecords }: Progress): void {
    const now = { atMs: performance.now(), records: sum(appliedRecords) };
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
      if (backlogOf(now, performance.now()) <= limit) return;
      await setTimeout(lookAgainMs);
    }
  };
}

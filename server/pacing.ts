/**
 * Slows bulk uploads down while evaluation is behind.
 *
 * The log accepts locations several times faster than they can be evaluated. Without a limit, one upload of millions
 * would delay every track call for minutes. A partition that is stalled does not count while others make progress or
 * are idle, because a halted partition must not block uploads to all others.
 */
import { setTimeout } from 'node:timers/promises';
import { type Progress, sum } from './backlog.js';

const pollIntervalMs = 5;
/** The maximum delay of a track call behind uploads. */
const maxDelayMs = 500;
const measureIntervalMs = 250;
/** Keeps the location stage busy until its rate is known. */
const minRecords = 2_000;
/** Longer than a partition takes to get a new owner. */
const stalledAfterMs = 30_000;

/** Returns the backlog of the partitions that make progress, or of all partitions if none does. */
export function createMovingBacklog(): (progress: Progress, nowMs: number) => number {
  let last: Progress | undefined;
  /** When each partition last made progress or had nothing to do. */
  const progressAtMs: number[] = [];

  return (progress, nowMs) => {
    const { waitingRecords, appliedRecords } = progress;
    const moving = waitingRecords.filter((waiting, partition) => {
      const makesProgress =
        waiting === 0 ||
        !last?.waitingRecords[partition] ||
        last.appliedRecords[partition] !== appliedRecords[partition];
      if (makesProgress) progressAtMs[partition] = nowMs;
      return nowMs - (progressAtMs[partition] as number) < stalledAfterMs;
    });
    last = progress;
    return sum(moving.length > 0 ? moving : waitingRecords);
  };
}

/**
 * Returns a function that resolves when the backlog is at most `maxRecords`, and at most what is evaluated in half a
 * second, and rejects when the signal aborts first. The rate is measured, because evaluation takes ten times as long
 * among many overlapping fences.
 */
export function createPacing(
  progress: () => Promise<Progress>,
  maxRecords: number,
): (signal?: AbortSignal) => Promise<void> {
  const backlogOf = createMovingBacklog();
  let recordsPerMs = 0;
  let measured: { readonly atMs: number; readonly records: number } | undefined;

  function measure({ appliedRecords }: Progress): void {
    const now = { atMs: performance.now(), records: sum(appliedRecords) };
    measured ??= now;
    if (now.atMs - measured.atMs < measureIntervalMs) return;
    recordsPerMs = (now.records - measured.records) / (now.atMs - measured.atMs);
    measured = now;
  }

  return async (signal) => {
    for (;;) {
      const now = await progress();
      measure(now);
      const limit = Math.min(maxRecords, Math.max(minRecords, recordsPerMs * maxDelayMs));
      if (backlogOf(now, performance.now()) <= limit) return;
      await setTimeout(pollIntervalMs, undefined, { ...(signal && { signal }) });
    }
  };
}

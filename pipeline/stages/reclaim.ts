/** How a stage claims a partition again that another process has claimed. */
import { setTimeout as delay } from 'node:timers/promises';

/** Bounds without a setting. */
export const reclaimBounds = {
  /** Consecutive refusals after which the process ends: two owners must be fighting over the partition. */
  maxFencedAttempts: 10,
  /** Approximate delay before reclaiming a partition. */
  reclaimDelayMs: 1_000,
};
export type ReclaimBounds = Readonly<typeof reclaimBounds>;

/**
 * Waits before a partition is claimed again, with jitter. A process that was paused for long is refused before it
 * learns that the partition was reassigned. Reclaiming at once would fence the new owner.
 */
export const waitBeforeReclaim = ({ reclaimDelayMs }: Pick<ReclaimBounds, 'reclaimDelayMs'>): Promise<void> =>
  delay(reclaimDelayMs * (0.5 + Math.random()));

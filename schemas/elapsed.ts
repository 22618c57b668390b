/**
 * Returns whether `intervalMs` have passed since `sinceMs`. True as well if the clock was set back since: otherwise the
 * work would wait for as long as the step.
 */
export const hasElapsed = (intervalMs: number, sinceMs: number, nowMs: number): boolean =>
  nowMs < sinceMs || nowMs - sinceMs >= intervalMs;

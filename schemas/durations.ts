/** Durations in milliseconds. A day has 24 hours here, whatever a time zone makes of it. */

/** A minute. */
export const minuteMs = 60_000;
/** An hour. */
export const hourMs = 60 * minuteMs;
/** A day of 24 hours. */
export const dayMs = 24 * hourMs;

/**
 * Returns whether `intervalMs` have passed since `sinceMs`. True as well if the clock was set back since: otherwise the
 * work would wait for as long as the step.
 */
export const hasElapsed = (intervalMs: number, sinceMs: number, nowMs: number): boolean =>
  nowMs < sinceMs || nowMs - sinceMs >= intervalMs;

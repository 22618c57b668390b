/**
 * The retry schedule. Pure.
 *
 * Input: the number of the attempt, its result, and the response's Retry-After. Output: whether and when the delivery
 * is attempted again, and how long the whole webhook is paused.
 */
import { retryAfterDelay } from '../../../outbound/retry-after.js';
import { hourMs } from '../../../schemas/durations.js';
import type { AttemptResult, AttemptState } from '../../../schemas/json/webhook.js';

/** Maximum jitter as a share of each delay, so that deliveries that failed together aren't retried together. */
const jitterShare = 0.1;

const maxPauseMs = hourMs;
/** Too Many Requests and Service Unavailable concern the webhook as a whole, not one request. */
const pausingStatuses: readonly (number | null)[] = [429, 503];

/** An attempt that has ended. */
export interface EndedAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  readonly result: AttemptResult;
  readonly status: number | null;
  /** Value of the Retry-After header, if any. */
  readonly retryAfter: string | undefined;
  /** Epoch ms. */
  readonly endedAtMs: number;
}

interface RetryDecision {
  readonly state: AttemptState;
  /** Time until the next attempt; null unless another follows. */
  readonly delayMs: number | null;
  /** Time for which the whole webhook is paused; 0 for no pause. */
  readonly pauseMs: number;
}

/**
 * Decides what follows an attempt.
 *
 * @param delaysMs Delay of each retry; a delivery has one attempt more.
 * @param random 0 up to 1, as of Math.random.
 */
export function decideRetry(
  { attempt, result, status, retryAfter, endedAtMs }: EndedAttempt,
  delaysMs: readonly number[],
  random: () => number,
): RetryDecision {
  if (result === 'delivered') return { state: 'delivered', delayMs: null, pauseMs: 0 };
  const retryAfterMs = (retryAfter === undefined ? undefined : retryAfterDelay(retryAfter, endedAtMs)) ?? 0;
  const pauseMs = pausingStatuses.includes(status) ? Math.min(retryAfterMs, maxPauseMs) : 0;
  const scheduledMs = delaysMs[attempt - 1];
  if (scheduledMs === undefined) return { state: 'given_up', delayMs: null, pauseMs };
  const jitteredMs = Math.round(scheduledMs * (1 + jitterShare * (2 * random() - 1)));
  return { state: 'retrying', delayMs: Math.max(jitteredMs, retryAfterMs), pauseMs };
}

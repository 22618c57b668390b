/** Retries with growing, jittered delays for a bounded time. */
import { setTimeout as delay } from 'node:timers/promises';

/** How long work is retried during an outage before the failure ends the process. */
export const outageLimitMs = 60_000;

const firstPauseMs = 50;
const maxPauseMs = 2_000;

/** Returns the delay after failed attempt `attempt`, counted from 0. Half of it is random, to spread clients. */
export function pauseMs(attempt: number): number {
  const longestMs = Math.min(maxPauseMs, firstPauseMs * 2 ** attempt);
  return longestMs * (0.5 + Math.random() / 2);
}

/** When to give up. Without options every error is retried for a minute. */
export interface RetryOptions {
  /** Default a minute. */
  readonly limitMs?: number;
  /** Whether another attempt would fail as well. Default: never. */
  readonly isFinal?: (error: unknown) => boolean;
  /** Ends the delay before another attempt, with an `AbortError`. */
  readonly signal?: AbortSignal | undefined;
  /** Whether every process meets the error, so that ending this one helps nobody. The limit then starts anew. */
  readonly isForAll?: (error: unknown) => boolean;
}

/** Repeats `attempt` until it resolves. Rejects with its last error after the limit, or at once with a final error. */
export async function retried<T>(
  attempt: () => Promise<T>,
  { limitMs = outageLimitMs, isFinal = () => false, isForAll = () => false, signal }: RetryOptions = {},
): Promise<T> {
  let deadlineMs = performance.now() + limitMs;
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (isFinal(error)) throw error;
      if (isForAll(error)) deadlineMs = performance.now() + limitMs;
      if (performance.now() > deadlineMs) throw error;
      await delay(pauseMs(failures), undefined, { signal });
    }
  }
}

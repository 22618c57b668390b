/** Trying again, more and more slowly, for a bounded time. */
import { setTimeout as delay } from 'node:timers/promises';

/** How long an outage is sat out before it counts as a failure of ours. */
export const outageLimitMs = 60_000;

const firstPauseMs = 50;
const maxPauseMs = 2_000;

/**
 * Before try `attempt` + 1, counted from 0. Half of it is drawn, so that those who failed together don't come back
 * together.
 */
export function pauseMs(attempt: number): number {
  const longestMs = Math.min(maxPauseMs, firstPauseMs * 2 ** attempt);
  return longestMs * (0.5 + Math.random() / 2);
}

export interface RetryOptions {
  /** Default a minute. */
  readonly limitMs?: number;
  /** Of errors that another try won't mend. Default none. */
  readonly isFinal?: (error: unknown) => boolean;
}

/** What `attempt` resolves to; rejects with its last error after the limit, or at once with one that is final. */
export async function retried<T>(
  attempt: () => Promise<T>,
  { limitMs = outageLimitMs, isFinal = () => false }: RetryOptions = {},
): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (isFinal(error) || performance.now() > deadlineMs) throw error;
      await delay(pauseMs(failures));
    }
  }
}

/**
 * Waits for a condition instead of for a time.
 *
 * The condition must stay true once it is: a machine that is faster or slower passes a state that comes and goes
 * between two polls. So wait for counters that only grow, for the end of something, or let the test itself take the
 * steps.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** A guard against hanging: many times what the slowest wait takes. */
const defaultTimeoutMs = 120_000;
const usualPollMs = 50;

/**
 * Polls until the condition returns something other than undefined, null or false, and returns that. Throws after
 * `timeoutMs`, with what `describe` returns. An expensive condition is asked less often: `pollEveryMs`.
 */
export async function until<T>(
  condition: () => Promise<T> | T,
  {
    timeoutMs = defaultTimeoutMs,
    pollEveryMs = usualPollMs,
    describe = () => String(condition),
  }: { timeoutMs?: number; pollEveryMs?: number; describe?: () => string } = {},
): Promise<NonNullable<Exclude<T, false>>> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) return value as NonNullable<Exclude<T, false>>;
    if (Date.now() > deadlineMs) throw new Error(`not within ${timeoutMs} ms: ${describe()}`);
    await delay(pollEveryMs);
  }
}

/** A clock for due times: it follows the system's clock, but is never set back. */

/** Speed while the clock is ahead. The delays of retries vary by as much anyway. */
const speedWhileAhead = 0.9;

/**
 * Creates a clock in whole epoch ms. While the system's clock is behind the last result, time passes a tenth slower,
 * until the system's clock has caught up.
 *
 * @param clock Epoch ms; may be set forward and back.
 * @param monotonicMs Milliseconds since any moment; never set.
 */
export function createSteadyClock(clock: () => number, monotonicMs: () => number): () => number {
  let latestMs = clock();
  let latestAtMs = monotonicMs();
  return () => {
    const nowMs = monotonicMs();
    latestMs = Math.max(clock(), latestMs + (nowMs - latestAtMs) * speedWhileAhead);
    latestAtMs = nowMs;
    return Math.floor(latestMs);
  };
}

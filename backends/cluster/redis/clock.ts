/** The time of Redis, by which erasers of all nodes agree, whatever the clocks of their machines say. */
import type { RedisConnection } from './connection.js';

/** How often Redis is asked: clocks of machines drift apart by less than a millisecond in this time. */
const askEveryMs = 10_000;

interface RedisClock {
  /** Returns the time in epoch ms: that of Redis, or of this machine if that is earlier. A clock may be ahead. */
  now(): number;
  close(): Promise<void>;
}

/** Asks Redis for its time, now and then again. Without an answer the last one counts. */
export async function startRedisClock({ client, withRetries }: RedisConnection): Promise<RedisClock> {
  let aheadOfSteadyMs = 0;
  async function ask(): Promise<void> {
    const [seconds, microseconds] = await client.time();
    aheadOfSteadyMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000 - performance.now();
  }
  await withRetries(ask);
  const timer = setInterval(() => void ask().catch(() => {}), askEveryMs).unref();
  return {
    now: () => Math.min(Date.now(), Math.floor(performance.now() + aheadOfSteadyMs)),
    close: async () => clearInterval(timer),
  };
}

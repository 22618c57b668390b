import { ApiError } from '../../schemas/errors.js';

export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Runs at most `maxConcurrent` pieces of work at once and queues `maxQueued` more. Refuses further work as `overloaded`
 * with `retryAfterS`.
 */
export function createConcurrencyLimit(
  maxConcurrent: number,
  maxQueued: number,
  retryAfterS: number,
): ConcurrencyLimit {
  const queue: (() => void)[] = [];
  let running = 0;

  async function acquire(): Promise<void> {
    if (running < maxConcurrent) {
      running += 1;
      return;
    }
    if (queue.length >= maxQueued) throw new ApiError('overloaded', 'too many queries are waiting', { retryAfterS });
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  /** Passes the slot to the next in the queue. */
  function release(): void {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  return async (work) => {
    await acquire();
    try {
      return await work();
    } finally {
      release();
    }
  };
}

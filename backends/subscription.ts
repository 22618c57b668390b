/** The life of a subscription whose partitions each have a loop, on both backends. */
import type { Subscription } from '../pipeline/ports.js';

/**
 * Returns the subscription of loops that have started. It ends when all loops end. When one fails, `stop` ends the
 * others, and `done` rejects. `stop` must make every loop settle.
 */
export function subscriptionOf(loops: readonly Promise<void>[], stop: () => void): Subscription {
  const settled = Promise.allSettled(loops);
  const done = Promise.all(loops).then(
    () => {},
    (error) => {
      stop();
      throw error;
    },
  );
  return {
    done,
    async close() {
      stop();
      await settled;
    },
  };
}

/** Runs work one at a time per key: for edits that read a record, change it and write it whole. */
import { ApiError } from '../schemas/errors.js';

/** Runs work in its turn: one at a time for each key. Throws `overloaded` when too much waits for the key. */
export type Serialize = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Batches of records of a project that run or wait: each holds its body in memory. */
export const maxUnfinishedBatches = 32;

/**
 * Runs work of the same key in the order of the calls. A failure rejects its own call and does not stop the next.
 *
 * @param maxUnfinished calls of one key that run or wait. Further ones reject with `overloaded`, because the data of a
 *   call that waits stays in memory.
 */
export function createSerializer(maxUnfinished: number): Serialize {
  const queues = new Map<string, { tail: Promise<unknown>; unfinished: number }>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const queue = queues.get(key) ?? { tail: Promise.resolve(), unfinished: 0 };
    if (queue.unfinished >= maxUnfinished)
      throw new ApiError('overloaded', `${maxUnfinished} changes are waiting for each other`, { retryAfterS: 1 });
    queues.set(key, queue);
    queue.unfinished += 1;
    const result = queue.tail.then(work);
    queue.tail = result
      .catch(() => undefined)
      .finally(() => {
        queue.unfinished -= 1;
        if (queue.unfinished === 0) queues.delete(key);
      });
    return result;
  };
}

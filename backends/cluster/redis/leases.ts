/** Leases for scheduled work: a key per work, held for its interval by the node that set it first. */
import type { Leases } from '../../../pipeline/ports.js';
import { freshId } from '../../../schemas/ids.js';
import type { RedisConnection } from './connection.js';

/** Creates the leases on a connection that the caller opens and closes. A lease ends by itself after its interval. */
export function createRedisLeases({ client, options, withRetries }: RedisConnection): Leases {
  return {
    async take(name, intervalMs) {
      const id = freshId();
      // A repetition finds its own id if the first attempt succeeded.
      const holder = await withRetries(() =>
        client.set(`${options.prefix}turn.${name}`, id, 'PX', intervalMs, 'NX', 'GET'),
      );
      return holder === null || holder === id;
    },
  };
}

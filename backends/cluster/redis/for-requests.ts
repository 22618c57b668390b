/** Redis for HTTP requests, which fail during an outage instead of being retried for a minute. */
import { PortError } from '../../../pipeline/errors.js';
import type { RedisConnection } from './connection.js';
import { isPassing } from './errors.js';

const limitMs = 2_000;
const retryAfterS = 5;

/**
 * Returns the same connection, but its `withRetries` rejects after two seconds with PortError `unavailable`. The
 * command may still be executed.
 */
export function forRequests(redis: RedisConnection): RedisConnection {
  return {
    ...redis,
    async withRetries(work) {
      const unavailable = new PortError('unavailable', 'Redis does not answer', { retryAfterS });
      let timer: NodeJS.Timeout | undefined;
      const expired = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(unavailable), limitMs);
      });
      try {
        return await Promise.race([redis.withRetries(work, limitMs), expired]);
      } catch (error) {
        throw isPassing(error) ? unavailable : error;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

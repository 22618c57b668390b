/** Redis for those behind whom a client waits: an outage is told to the client instead of being sat out. */
import { PortError } from '../../../pipeline/errors.js';
import type { RedisConnection } from './connection.js';
import { isPassing } from './errors.js';

const limitMs = 2_000;
const retryAfterS = 5;

/**
 * The same connection, but its `withRetries` rejects after two seconds with PortError `unavailable`. The work may be
 * done all the same.
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

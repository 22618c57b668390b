/** Redis for HTTP requests, which fail during an outage instead of being retried for a minute. */
import { PortError } from '../../../pipeline/errors.js';
import { withinMs } from '../../../pipeline/time-limit.js';
import type { RedisConnection } from './connection.js';
import { isPassing } from './errors.js';

const limitMs = 2_000;
const retryAfterS = 5;

const unavailable = (): PortError => new PortError('unavailable', 'Redis does not answer', { retryAfterS });

/**
 * Returns the same connection, but its `withRetries` rejects after two seconds with PortError `unavailable`. The
 * command may still be executed.
 */
export function forRequests(redis: RedisConnection): RedisConnection {
  return {
    ...redis,
    async withRetries(work) {
      try {
        return await withinMs(limitMs, redis.withRetries(work, limitMs), unavailable);
      } catch (error) {
        throw isPassing(error) ? unavailable() : error;
      }
    },
  };
}

/**
 * The delivery queue on Redis: deliveries in the order of their places, beside their source's position and owner token.
 *
 * A script is repeated when its reply was lost. That is safe: batches and drops have ids by which a repetition is
 * recognised, and settled places are skipped. When Redis loses its last second, it loses deliveries and position
 * together. An owner that knows a later position is then refused; it claims again, adds the lost deliveries again, and
 * repeats requests that had been settled. Health that a lost connection writes late is outdated for up to a minute.
 *
 * Redis keeps the queue in memory. 100,000 deliveries of 1,000 bytes took 1,211 bytes each for one webhook, and 1,161
 * bytes each for 10,000 webhooks (docs/decisions/015).
 */
import type { DeliveryQueue } from '../../../pipeline/ports.js';
import type { RedisConnection } from './connection.js';
import { createDeliveryQueueChanges } from './delivery-queue-changes.js';
import { createDeliveryQueueReads } from './delivery-queue-reads.js';
import { createReplacements } from './replacements.js';
import { createWebhookHealths } from './webhook-healths.js';

interface RedisDeliveryQueueParts {
  readonly redis: RedisConnection;
  /** Partitions of each topic. */
  readonly partitions: number;
}

/** Creates the queue on a connection that the caller opens and closes. The queue itself needs no closing. */
export const createRedisDeliveryQueue = ({ redis, partitions }: RedisDeliveryQueueParts): DeliveryQueue => ({
  ...createDeliveryQueueChanges(redis),
  ...createDeliveryQueueReads(redis, partitions),
  ...createReplacements(redis),
  ...createWebhookHealths(redis),
  onReturn: redis.onReturn,
});

/** The health of each webhook on Redis. Old ones expire by themselves. */
import { type DeliveryQueue, unknownHealth } from '../../../pipeline/ports.js';
import type { RedisConnection } from './connection.js';
import { healthKey } from './delivery-queue-layout.js';

/** Creates the healths on a connection that the caller opens and closes. */
export function createWebhookHealths({
  client,
  options,
  withRetries,
}: RedisConnection): Pick<DeliveryQueue, 'health' | 'setHealth'> {
  return {
    async health(webhook) {
      const text = await withRetries(() => client.get(healthKey(options.prefix, webhook)));
      return text === null ? unknownHealth : JSON.parse(text);
    },
    async setHealth(webhook, { failingSinceMs, lastSuccessAtMs }, retentionMs) {
      const text = JSON.stringify({ failingSinceMs, lastSuccessAtMs });
      await withRetries(() => client.set(healthKey(options.prefix, webhook), text, 'PX', retentionMs));
    },
  };
}

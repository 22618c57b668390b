/** The replacements of deliveries on Redis: which redeliveries were requested, and when. They expire by themselves. */
import type { DeliveryQueue, Replacement } from '../../../pipeline/ports.js';
import type { RedisConnection } from './connection.js';
import { replacementKey } from './delivery-queue-layout.js';

/** Commands that wait for their answers at the same time. */
const maxWritesAtOnce = 1_000;

/** Creates the replacements on a connection that the caller opens and closes. */
export function createReplacements({
  client,
  options,
  withRetries,
}: RedisConnection): Pick<DeliveryQueue, 'replace' | 'replacedAt'> {
  const keyOf = (webhook: string, delivery: string): string => replacementKey(options.prefix, webhook, delivery);

  /** Writes in the order of the log, so that the newest replacement is written last. */
  async function replace(webhook: string, replacements: readonly Replacement[], retentionMs: number): Promise<void> {
    const write = ({ delivery, createdAtMs }: Replacement): Promise<unknown> =>
      withRetries(() => client.set(keyOf(webhook, delivery), createdAtMs, 'PX', retentionMs));
    for (let start = 0; start < replacements.length; start += maxWritesAtOnce) {
      await Promise.all(replacements.slice(start, start + maxWritesAtOnce).map(write));
    }
  }

  async function replacedAt(webhook: string, deliveries: readonly string[]): Promise<(number | undefined)[]> {
    if (deliveries.length === 0) return [];
    const keys = deliveries.map((delivery) => keyOf(webhook, delivery));
    const times = await withRetries(() => client.mget(keys));
    return times.map((time) => (time === null ? undefined : Number(time)));
  }

  return { replace, replacedAt };
}

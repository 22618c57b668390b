/** Reads the delivery queue on Redis: what waits, and how far its sources are. */
import {
  type DeliveryPlace,
  type DeliveryQueue,
  type DeliverySource,
  deliverySources,
  type Position,
  type WaitingDelivery,
} from '../../../pipeline/ports.js';
import type { RedisConnection } from './connection.js';
import { boundAfter, decodeWaiting, dueAtMsOf, SourceKeys } from './delivery-queue-layout.js';
import { firstsScript, waitingScript } from './delivery-queue-scripts.js';
import { runScript } from './scripts.js';

/** Limits of one script, which then takes about ten milliseconds. */
const maxReadsPerScript = 1_000;
const readTargetBytes = 2 ** 22;

type Reads = Pick<DeliveryQueue, 'waiting' | 'webhooks' | 'position' | 'size'>;
type NextDue = Awaited<ReturnType<Reads['webhooks']>>[number];

/**
 * Creates the reads of the delivery queue. A read of many deliveries is several scripts, so that none blocks Redis for
 * long.
 */
export function createDeliveryQueueReads(redis: RedisConnection, partitions: number): Reads {
  const { client, options } = redis;
  const keysOf = (source: DeliverySource): SourceKeys => new SourceKeys(options.prefix, source);

  async function waiting(
    source: DeliverySource,
    webhook: string,
    limit: number,
    after?: DeliveryPlace,
  ): Promise<WaitingDelivery[]> {
    const keys = keysOf(source);
    const all: WaitingDelivery[] = [];
    for (let place = after; all.length < limit; place = all.at(-1)) {
      const asked = Math.min(limit - all.length, maxReadsPerScript);
      const args = [place === undefined ? '-' : boundAfter(place), `${asked}`, `${readTargetBytes}`];
      const answer = await redis.withRetries(() =>
        runScript(redis, waitingScript, [keys.places(webhook), keys.values(webhook)], args),
      );
      const [found, page] = answer as [number, Buffer[]];
      for (let i = 0; i < page.length; i += 2) all.push(decodeWaiting(webhook, page[i]!, page[i + 1]!));
      if (found < asked && page.length === 2 * found) break;
    }
    return all;
  }

  /** Reads pages of ids. Their order is the same on every server, so that a failover in between skips none. */
  async function webhooks(source: DeliverySource): Promise<NextDue[]> {
    const keys = keysOf(source);
    const all: NextDue[] = [];
    for (let start = '-'; ; ) {
      const ids = await redis.withRetries(() =>
        client.zrange(keys.webhooks, start, '+', 'BYLEX', 'LIMIT', 0, maxReadsPerScript),
      );
      if (ids.length > 0) all.push(...(await nextDueOf(keys, ids)));
      if (ids.length < maxReadsPerScript) return all;
      start = `(${ids.at(-1)}`;
    }
  }

  /** Omits webhooks without queued deliveries. */
  async function nextDueOf(keys: SourceKeys, ids: readonly string[]): Promise<NextDue[]> {
    const places = ids.map((webhook) => keys.places(webhook));
    const firsts = (await redis.withRetries(() => runScript(redis, firstsScript, places, []))) as Buffer[];
    return ids.flatMap((webhook, i) => {
      const first = firsts[i]!;
      return first.length === 0 ? [] : [{ webhook, nextDueAtMs: dueAtMsOf(first) }];
    });
  }

  async function position(source: DeliverySource): Promise<Position> {
    const [offset, mark] = await redis.withRetries(() => client.hmget(keysOf(source).meta, 'offset', 'mark'));
    return { offset: Number(offset ?? 0), mark: mark || null };
  }

  async function size(): Promise<number> {
    const sizes = deliverySources({ partitions: () => partitions }).map((source) =>
      redis.withRetries(() => client.hget(keysOf(source).meta, 'size')),
    );
    return (await Promise.all(sizes)).reduce((sum, size) => sum + Number(size), 0);
  }

  return { waiting, webhooks, position, size };
}

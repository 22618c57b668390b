/**
 * The delivery queue in Redis: its contract, on one server and on a cluster, and the faults of a remote server. It may
 * lose a reply, lose its last second, be down, or be out of memory. By ledgers of the added deliveries, each must exist
 * once.
 */
import { Cluster } from 'ioredis';
import { afterEach, describe, expect, test } from 'vitest';
import type { RedisOptions } from '../../../backends/cluster/options.js';
import { connectRedis, type RedisConnection } from '../../../backends/cluster/redis/connection.js';
import { createRedisDeliveryQueue } from '../../../backends/cluster/redis/delivery-queue.js';
import {
  type DeliveryClaim,
  type DeliveryQueue,
  type DeliverySource,
  maxDeliveryBytes,
  type WaitingDelivery,
} from '../../../pipeline/ports.js';
import type { BadNetwork } from '../../../testing/services/proxy.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { startRedis } from '../../../testing/services/redis.js';
import { masterOf, slotOf, whileMoving } from '../../../testing/services/redis-slots.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import type { Backend, BackendSite } from '../../contract/backend.js';
import { describeDeliveryQueueContract } from '../../contract/delivery-queue.contract.js';
import { freshRedisOptions } from './fresh-redis.js';

const { redis, redisCluster } = services()!;
const nodesOf = { Redis: [redis], 'Redis Cluster': redisCluster.nodes };

const source: DeliverySource = { topic: 'events', partition: 0 };
const webhook = '65f0a1b2c3d4e5f600000001';
const otherWebhook = '65f0a1b2c3d4e5f600000002';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface OpenQueue {
  readonly deliveryQueue: DeliveryQueue;
  readonly connection: RedisConnection;
  close(): Promise<void>;
}

async function openQueue(options: RedisOptions): Promise<OpenQueue> {
  const connection = await connectRedis(options, () => {});
  const deliveryQueue = createRedisDeliveryQueue({ redis: connection, partitions: 2 });
  return { deliveryQueue, connection, close: () => connection.close() };
}

/** Opens a queue, which the end of the test closes. */
async function queueOn(options: RedisOptions): Promise<DeliveryQueue> {
  const { deliveryQueue, close } = await openQueue(options);
  endings.push(close);
  return deliveryQueue;
}

async function here<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  endings.push(() => server.stop());
  return server;
}

for (const [name, nodes] of Object.entries(nodesOf)) {
  describeDeliveryQueueContract(name, async (): Promise<BackendSite> => {
    const options = freshRedisOptions(nodes);
    // The contract uses only the queue of a backend.
    return { open: async () => (await openQueue(options)) as unknown as Backend, remove: async () => {} };
  });
}

/** Returns a batch with one delivery per value, all due now. It advances the position by their number. */
const batchOf = (expectedOffset: number, values: readonly string[], to = webhook) => ({
  expectedOffset,
  nextOffset: expectedOffset + values.length,
  deliveries: values.map((value) => ({ webhook: to, dueAtMs: 1, value: Buffer.from(value) })),
});

const counting = (start: number, count: number): string[] => Array.from({ length: count }, (_, i) => `${start + i}`);
const textsOf = (waiting: readonly WaitingDelivery[]): string[] => waiting.map(({ value }) => value.toString());
const waitingTexts = async (queue: DeliveryQueue): Promise<string[]> =>
  textsOf(await queue.waiting(source, webhook, 100_000));
const gone = (place: WaitingDelivery) => ({ place, next: null });
const again = (place: WaitingDelivery, dueAtMs: number) => ({ place, next: { dueAtMs, attempts: 1 } });

describe.each(Object.entries(nodesOf))('%s', (_, nodes) => {
  test('an oversized delivery rejects its batch; the largest deliveries are read a few at a time', async () => {
    const queue = await queueOn(freshRedisOptions(nodes));
    const claim = await queue.claim(source);
    const largest = 'x'.repeat(maxDeliveryBytes);
    await expect(queue.add(claim, batchOf(0, ['a', `${largest}x`]))).rejects.toThrow('1048577 bytes');
    expect(await queue.size()).toBe(0);
    const values = counting(0, 10).map((number) => number + largest.slice(1));
    expect(await queue.add(claim, batchOf(0, values))).toBe('committed');
    expect((await waitingTexts(queue)).map((text) => text[0])).toEqual(counting(0, 10));
    const [, , third] = await queue.waiting(source, webhook, 3);
    expect(textsOf(await queue.waiting(source, webhook, 6, third)).map((text) => text[0])).toEqual(counting(3, 6));
    await queue.drop(claim, webhook);
  });

  test('thousands of deliveries are read and settled at once, but none by a replaced owner', async () => {
    const queue = await queueOn(freshRedisOptions(nodes));
    const claim = await queue.claim(source);
    await queue.add(claim, batchOf(0, counting(0, 3_500)));
    const waiting = await queue.waiting(source, webhook, 100_000);
    expect(textsOf(waiting)).toEqual(counting(0, 3_500));
    const even = waiting.filter((_, i) => i % 2 === 0);
    expect(await queue.settle(claim, even.map(gone))).toBe('committed');
    expect(await queue.size()).toBe(1_750);
    expect(await waitingTexts(queue)).toEqual(counting(0, 3_500).filter((_, i) => i % 2 === 1));
    await queue.claim(source);
    expect(await queue.settle(claim, waiting.map(gone))).toBe('fenced');
    expect(await queue.size()).toBe(1_750);
  });

  test('reading continues after a delivery with any number of attempts', async () => {
    const queue = await queueOn(freshRedisOptions(nodes));
    const claim = await queue.claim(source);
    await queue.add(claim, batchOf(0, ['a', 'b', 'c']));
    const [a, b] = (await queue.waiting(source, webhook, 2)) as [WaitingDelivery, WaitingDelivery];
    const tried = [a, b].map((place, i) => ({ place, next: { dueAtMs: 1, attempts: [3, 2 ** 32 - 1][i]! } }));
    await queue.settle(claim, tried);
    expect(textsOf(await queue.waiting(source, webhook, 10, a))).toEqual(['b', 'c']);
    expect(textsOf(await queue.waiting(source, webhook, 10, b))).toEqual(['c']);
  });

  test('settled and dropped deliveries leave no keys', async () => {
    const options = freshRedisOptions(nodes);
    const { deliveryQueue: queue, connection, close } = await openQueue(options);
    endings.push(close);
    const claim = await queue.claim(source);
    await queue.add(claim, batchOf(0, ['a', 'b']));
    await queue.add(claim, batchOf(2, ['c', 'd'], otherWebhook));
    await queue.settle(claim, (await queue.waiting(source, webhook, 2)).map(gone));
    await queue.drop(claim, otherWebhook);
    const { client } = connection;
    const servers = client instanceof Cluster ? client.nodes('master') : [client];
    const keys = await Promise.all(servers.map((server) => server.keys(`${options.prefix}*`)));
    expect(keys.flat()).toEqual([`${options.prefix}{deliveries.events.0}.meta`]);
  });

  test('owners that keep claiming a source from each other add each delivery once', async () => {
    const options = freshRedisOptions(nodes);
    const owners = await Promise.all([queueOn(options), queueOn(options), queueOn(options)]);
    const total = 600;
    let refusals = 0;
    const own = async (queue: DeliveryQueue): Promise<void> => {
      for (;;) {
        const claim = await queue.claim(source);
        let offset = claim.nextOffset;
        while (offset < total && (await queue.add(claim, batchOf(offset, counting(offset, 3)))) === 'committed')
          offset += 3;
        if (offset >= total) return;
        refusals += 1;
      }
    };
    await Promise.all(owners.map(own));
    expect(refusals).toBeGreaterThan(1);
    const waiting = await owners[0]!.waiting(source, webhook, 10_000);
    expect(textsOf(waiting)).toEqual(counting(0, total));
    expect(waiting.map(({ sequence }) => sequence - waiting[0]!.sequence)).toEqual(counting(0, total).map(Number));
    expect(await owners[0]!.size()).toBe(total);
  });
});

/**
 * Regression: a script removed the last delivery of a webhook and used its key again. While a slot moves, Redis refuses
 * a key that does not exist, in the middle of the script. The node ended, and the count of deliveries stayed too large.
 */
describe('while the slot of a source moves', () => {
  async function whileItMoves(prefix: string, action: () => Promise<unknown>): Promise<void> {
    const { nodes } = redisCluster;
    const slot = await slotOf(nodes[0]!, `${prefix}{deliveries.events.0}.meta`);
    const port = await masterOf(nodes[0]!, slot);
    const [from, to] = [nodes.find((node) => node.port === port)!, nodes.find((node) => node.port !== port)!];
    await whileMoving(slot, from, to, action);
  }

  async function filled() {
    const options = freshRedisOptions(redisCluster.nodes);
    const queue = await queueOn(options);
    const claim = await queue.claim(source);
    await queue.add(claim, batchOf(0, ['a', 'b']));
    await queue.add(claim, batchOf(2, ['c'], otherWebhook));
    const places = [...(await queue.waiting(source, webhook, 10)), ...(await queue.waiting(source, otherWebhook, 10))];
    return {
      queue,
      claim,
      prefix: options.prefix,
      places: places as [WaitingDelivery, WaitingDelivery, WaitingDelivery],
    };
  }

  test('deliveries are settled whole, also the last of a webhook', async () => {
    const { queue, claim, prefix, places } = await filled();
    const [a, b, c] = places;
    await whileItMoves(prefix, async () => {
      expect(await queue.settle(claim, [gone(a), gone(a), again(b, 7), gone(c), gone(c)])).toBe('committed');
    });
    expect(await queue.webhooks(source)).toEqual([{ webhook, nextDueAtMs: 7 }]);
    const [moved] = await queue.waiting(source, webhook, 10);
    expect([moved?.value.toString(), moved?.attempts, await queue.size()]).toEqual(['b', 1, 1]);
    await whileItMoves(prefix, async () => {
      expect(await queue.settle(claim, [again(moved!, 9)])).toBe('committed');
    });
    const [last] = await queue.waiting(source, webhook, 10);
    await whileItMoves(prefix, async () => {
      expect(await queue.settle(claim, [gone(last!)])).toBe('committed');
    });
    expect([await queue.webhooks(source), await queue.size()]).toEqual([[], 0]);
  });

  test('deliveries are erased whole, also the last of a webhook', async () => {
    const { queue, prefix, places } = await filled();
    const [a, b] = places;
    await whileItMoves(prefix, () => queue.erase(source, webhook, [a, b, a]));
    expect([await queue.webhooks(source), await queue.size()]).toEqual([
      [{ webhook: otherWebhook, nextDueAtMs: 1 }],
      1,
    ]);
  });
});

describe('when a reply is lost', () => {
  /** Opens a queue over a separate network, and a second one directly. */
  async function behindNetwork() {
    const network = await startProxy(redis);
    endings.push(() => network.stop());
    const options = freshRedisOptions([redis]);
    const direct = await queueOn(options);
    const queue = await queueOn({ ...options, nodes: [network] });
    return { network, queue, direct };
  }

  /** Returns the result of `change` when its first reply is lost, `meanwhile` runs, and it is repeated. */
  async function repeated<T>(
    network: BadNetwork,
    change: () => Promise<T>,
    isDone: () => Promise<boolean>,
    meanwhile: () => Promise<unknown> = async () => {},
  ): Promise<T> {
    network.dropsAnswers = true;
    const answer = change();
    await until(isDone);
    await meanwhile();
    network.cutOff();
    network.mend();
    return answer;
  }

  test('a batch is added once, and its repetition succeeds', async () => {
    const { network, queue, direct } = await behindNetwork();
    const claim = await queue.claim(source);
    const isDone = async () => (await direct.size()) > 0;
    expect(await repeated(network, () => queue.add(claim, batchOf(0, ['a', 'b'])), isDone)).toBe('committed');
    expect(await waitingTexts(direct)).toEqual(['a', 'b']);
    expect(await queue.add(claim, batchOf(0, ['a', 'b']))).toBe('fenced');
    expect(await queue.add(claim, batchOf(2, ['c']))).toBe('committed');
    expect(await waitingTexts(direct)).toEqual(['a', 'b', 'c']);
    expect(await direct.size()).toBe(3);
  });

  test('a batch that moves no position is added once', async () => {
    const { network, queue, direct } = await behindNetwork();
    const claim = await queue.claim(source);
    const batch = { ...batchOf(0, ['a']), nextOffset: 0 };
    expect(
      await repeated(
        network,
        () => queue.add(claim, batch),
        async () => (await direct.size()) > 0,
      ),
    ).toBe('committed');
    expect(await waitingTexts(direct)).toEqual(['a']);
  });

  test('a repeated batch succeeds although another owner has claimed the source', async () => {
    const { network, queue, direct } = await behindNetwork();
    const claim = await queue.claim(source);
    const isDone = async () => (await direct.size()) > 0;
    const take = () => direct.claim(source);
    expect(await repeated(network, () => queue.add(claim, batchOf(0, ['a'])), isDone, take)).toBe('committed');
    expect(await queue.add(claim, batchOf(1, ['b']))).toBe('fenced');
    expect(await waitingTexts(direct)).toEqual(['a']);
  });

  test('deliveries are settled once', async () => {
    const { network, queue, direct } = await behindNetwork();
    const claim = await queue.claim(source);
    await queue.add(claim, batchOf(0, ['a', 'b', 'c']));
    const [a, b] = (await queue.waiting(source, webhook, 2)) as [WaitingDelivery, WaitingDelivery];
    const settlements = [gone(a), { place: b, next: { dueAtMs: 2, attempts: 1 } }];
    expect(
      await repeated(
        network,
        () => queue.settle(claim, settlements),
        async () => (await direct.size()) < 3,
      ),
    ).toBe('committed');
    expect(await direct.size()).toBe(2);
    expect((await direct.waiting(source, webhook, 3)).map(({ value, attempts }) => `${value} ${attempts}`)).toEqual([
      'c 0',
      'b 1',
    ]);
  });

  test('deliveries added after a drop survive its repetition', async () => {
    const { network, queue, direct } = await behindNetwork();
    const claim = await queue.claim(source);
    await queue.add(claim, batchOf(0, ['a', 'b']));
    const add = () => direct.add(claim, batchOf(2, ['c']));
    expect(
      await repeated(
        network,
        () => queue.drop(claim, webhook),
        async () => (await direct.size()) === 0,
        add,
      ),
    ).toBe('committed');
    expect(await waitingTexts(direct)).toEqual(['c']);
    expect(await direct.size()).toBe(1);
  });

  test('a claim is repeated, and its first token is invalid', async () => {
    const { network, queue, direct } = await behindNetwork();
    const before = await queue.claim(source);
    const isDone = async () => (await direct.settle(before, [])) === 'fenced';
    const claim = await repeated(network, () => queue.claim(source), isDone);
    expect(await queue.add(claim, batchOf(0, ['a']))).toBe('committed');
  });
});

describe('a separate server', () => {
  test('that loses its last second: settled deliveries are queued again, and added ones are added again', async () => {
    const server = await here(startRedis());
    const { deliveryQueue: queue, connection, close } = await openQueue(freshRedisOptions([server]));
    endings.push(close);
    const claim = await queue.claim(source);
    await queue.add(claim, batchOf(0, ['a', 'b', 'c']));
    const before = (await queue.waiting(source, webhook, 10)) as [WaitingDelivery, WaitingDelivery, WaitingDelivery];
    await connection.client.call('SAVE');
    const [a, b] = before;
    expect(await queue.settle(claim, [gone(a), { place: b, next: { dueAtMs: 60_000, attempts: 1 } }])).toBe(
      'committed',
    );
    expect(await queue.add(claim, batchOf(3, ['d', 'e']))).toBe('committed');
    const [, d] = await queue.waiting(source, webhook, 2);
    await server.kill();
    await server.restart();

    expect(await queue.settle(claim, [gone(d!)])).toBe('fenced');
    expect(await queue.drop(claim, webhook)).toBe('fenced');
    expect(await queue.add(claim, batchOf(5, ['f']))).toBe('fenced');
    expect(await queue.waiting(source, webhook, 10)).toEqual(before);
    const next = await queue.claim(source);
    expect([next.nextOffset, next.nextSequence]).toEqual([3, claim.nextSequence + 3]);
    expect(await queue.add(next, batchOf(3, ['d', 'e', 'f']))).toBe('committed');
    expect(await waitingTexts(queue)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    expect(await queue.size()).toBe(6);
  });

  test('that loses a claim gives its token to nobody else', async () => {
    const server = await here(startRedis());
    const { deliveryQueue: queue, connection, close } = await openQueue(freshRedisOptions([server]));
    endings.push(close);
    await queue.claim(source);
    await connection.client.call('SAVE');
    const lost = await queue.claim(source);
    await server.kill();
    await server.restart();
    const successor = await queue.claim(source);
    expect(await queue.add(lost, batchOf(0, ['a']))).toBe('fenced');
    expect(await queue.add(successor, batchOf(0, ['b']))).toBe('committed');
    expect(await waitingTexts(queue)).toEqual(['b']);
  });

  test('that is killed at random moments: each record makes one delivery', async () => {
    const server = await here(startRedis({ appendfsync: 'everysec' }));
    const queue = await queueOn(freshRedisOptions([server]));
    const total = 3_000;
    let added = 0;
    /** Adds all records, settles every second delivery, and claims again when refused. */
    const deliver = async (): Promise<void> => {
      for (;;) {
        const claim = await queue.claim(source);
        if ((await addAll(claim)) && (await settleOdd(claim))) return;
      }
    };
    const addAll = async (claim: DeliveryClaim): Promise<boolean> => {
      for (let offset = claim.nextOffset; offset < total; offset += 2) {
        if ((await queue.add(claim, batchOf(offset, counting(offset, 2)))) === 'fenced') return false;
        added += 1;
      }
      return true;
    };
    const settleOdd = async (claim: DeliveryClaim): Promise<boolean> => {
      const waiting = await queue.waiting(source, webhook, total);
      return (
        (await queue.settle(claim, waiting.filter(({ value }) => Number(value) % 2 === 1).map(gone))) === 'committed'
      );
    };
    const delivered = deliver();
    for (const threshold of [50, 400, 800]) {
      await until(() => added >= threshold);
      await server.kill();
      await server.restart();
    }
    await delivered;
    // If all was done before the last kill, the last second may be lost as well.
    await deliver();
    expect(await waitingTexts(queue)).toEqual(counting(0, total).filter((text) => Number(text) % 2 === 0));
    expect(await queue.size()).toBe(total / 2);
    expect((await queue.claim(source)).nextOffset).toBe(total);
  });

  test('that is out of memory still removes deliveries, and accepts more as soon as there is space', async () => {
    const server = await here(startRedis());
    const { deliveryQueue: queue, connection, close } = await openQueue(freshRedisOptions([server]));
    endings.push(close);
    const { client } = connection;
    const first = await queue.claim(source);
    await queue.add(first, batchOf(0, ['a', 'b', 'c']));
    await queue.add(first, batchOf(3, ['d'], otherWebhook));
    await client.call('CONFIG', 'SET', 'maxmemory', '1mb');
    const claim = await queue.claim(source);
    const adding = queue.add(claim, batchOf(4, ['e']));
    await until(async () => (await client.info('errorstats')).includes('errorstat_OOM'));
    const [a, b] = (await queue.waiting(source, webhook, 2)) as [WaitingDelivery, WaitingDelivery];
    const settlements = [{ place: a, next: { dueAtMs: 2, attempts: 1 } }, gone(b)];
    expect(await queue.settle(claim, settlements)).toBe('committed');
    expect(await queue.drop(claim, otherWebhook)).toBe('committed');
    expect(await waitingTexts(queue)).toEqual(['c', 'a']);
    await client.call('CONFIG', 'SET', 'maxmemory', '0');
    expect(await adding).toBe('committed');
    expect(await waitingTexts(queue)).toEqual(['c', 'e', 'a']);
    expect(await queue.size()).toBe(3);
  });
});

/** What the contract can't ask of every store: expiry, a Redis that falls back, answers that are lost, outages. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Claim, Commit } from '../../../pipeline/ports.js';
import type { Address } from '../../../test/services/ports.js';
import { startProxy } from '../../../test/services/proxy.js';
import { type RedisClusterServer, type RedisServer, startRedis, startRedisCluster } from '../../../test/services/redis.js';
import type { Server } from '../../../test/services/server.js';
import { services } from '../../../test/services/services.js';
import { until } from '../../../test/support/until.js';
import type { RedisOptions } from '../options.js';
import { connectRedis, type RedisConnection } from './connection.js';
import { createRedisStateStore, type RedisStateStore } from './state-store.js';
import { freshRedisOptions } from './testing/fresh-redis.js';

interface OpenStore {
  readonly redis: RedisConnection;
  readonly store: RedisStateStore;
  /** Values that were published, as they reached Kafka. */
  readonly published: string[];
  /** What Kafka does before it takes records. */
  kafka: () => Promise<void>;
  stateOf(key: string, partition?: number): Promise<string | undefined>;
}

const willing = async () => {};
const absent = async () => {
  throw new Error('no Kafka');
};

async function withStore(options: RedisOptions, use: (open: OpenStore) => Promise<void>, retentionMs = 0): Promise<void> {
  const redis = await connectRedis(options, () => {});
  const published: string[] = [];
  const store = createRedisStateStore({
    redis,
    retentionMs,
    wire: { toWire: (_topic, frame) => void frame.write('W') },
    publish: async (_topic, records) => {
      await open.kafka();
      published.push(...records.map(({ value }) => `${value}`));
    },
  });
  const open: OpenStore = {
    redis,
    store,
    published,
    kafka: willing,
    stateOf: async (key, partition = 0) => (await store.load(partition, [key]))[0]?.toString(),
  };
  try {
    await use(open);
  } finally {
    await redis.close();
  }
}

/** The device's state is the offset up to which it was applied; the event says the same. */
const commitOf = (expectedOffset: number, nextOffset: number, key = 'device'): Commit => ({
  expectedOffset,
  nextOffset,
  states: new Map([[key, Buffer.from(`${nextOffset}`)]]),
  publish: [{ topic: 'events', records: [{ key, value: Buffer.from(`- ${nextOffset}`) }] }],
});
const published = (...offsets: number[]): string[] => offsets.map((offset) => `W ${offset}`);

/** All that is under the connection's prefix, to be put back as it was. */
async function snapshot({ client, options }: RedisConnection): Promise<() => Promise<void>> {
  const names = await client.keys(`${options.prefix}*`);
  const held = await Promise.all(names.map(async (name) => ({ name, value: await client.dumpBuffer(name) })));
  return async () => {
    await Promise.all((await client.keys(`${options.prefix}*`)).map((name) => client.del(name)));
    for (const { name, value } of held) await client.restore(name, 0, value!);
  };
}

const { redis: shared } = services()!;

test('a device without commits for the retention time is forgotten, the others and the position are not', () =>
  withStore(
    freshRedisOptions([shared]),
    async ({ store, stateOf }) => {
      const claim = await store.claim(0);
      await store.commit(claim, commitOf(0, 1, 'silent'));
      let offset = 1;
      await until(async () => {
        await store.commit(claim, commitOf(offset, ++offset, 'busy'));
        return (await stateOf('silent')) === undefined;
      });
      expect(await stateOf('busy')).toBe(`${offset}`);
      expect(await store.nextOffsets(2)).toEqual([offset, 0]);
    },
    500,
  ));

test('without a retention time devices stay', () =>
  withStore(freshRedisOptions([shared]), async ({ store, redis }) => {
    const claim = await store.claim(0);
    await store.commit(claim, commitOf(0, 1));
    const [key] = await redis.client.keys(`${redis.options.prefix}*device`);
    expect(await redis.client.pttl(key!)).toBe(-1);
  }));

test('what is published, and what is left to the next owner, is in wire form', () =>
  withStore(freshRedisOptions([shared]), async (open) => {
    const { store } = open;
    await store.commit(await store.claim(0), commitOf(0, 1));
    open.kafka = absent;
    await expect(store.commit(await store.claim(0), commitOf(1, 2))).rejects.toThrow('no Kafka');
    open.kafka = willing;
    await store.claim(0);
    expect(open.published).toEqual(published(1, 2));
  }));

describe('an owner that could not publish', () => {
  test('commits nothing more, and whoever claims publishes for it, once', () =>
    withStore(freshRedisOptions([shared]), async (open) => {
      const { store, redis } = open;
      const failed = await store.claim(0);
      open.kafka = absent;
      await expect(store.commit(failed, commitOf(0, 1))).rejects.toThrow('no Kafka');
      await expect(store.claim(0)).rejects.toThrow('no Kafka');
      open.kafka = willing;
      await expect(store.commit(failed, commitOf(1, 2))).rejects.toThrow('no Kafka');
      expect(open.published).toEqual([]);
      expect((await store.claim(0)).nextOffset).toBe(1);
      expect(open.published).toEqual(published(1));
      await until(async () => (await redis.client.keys(`${redis.options.prefix}*outbox`)).length === 0);
      await store.claim(0);
      expect(open.published).toEqual(published(1));
    }));

  test('leaves to its successors what they could not publish, however late it hears that its own was published', () =>
    withStore(freshRedisOptions([shared]), async (open) => {
      const { store, redis } = open;
      const slow = holdUp();
      open.kafka = slow.work;
      const late = store.commit(await store.claim(0), commitOf(0, 1));
      await slow.begun;
      open.kafka = willing;
      const successor = await store.claim(0);
      open.kafka = absent;
      await expect(store.commit(successor, commitOf(1, 2))).rejects.toThrow('no Kafka');
      slow.end();
      expect(await late).toBe('committed');
      // Commands of one connection are done in their order.
      await redis.client.ping();
      open.kafka = willing;
      await store.claim(0);
      expect(open.published.at(-1)).toBe('W 2');
    }));
});

test('a commit waits until the one before it is published, for the outbox holds one', () =>
  withStore(freshRedisOptions([shared]), async (open) => {
    const { store } = open;
    const slow = holdUp();
    open.kafka = slow.work;
    const claim = await store.claim(0);
    const results = Promise.all([1, 2, 3].map((offset) => store.commit(claim, commitOf(offset - 1, offset))));
    await slow.begun;
    expect(await store.nextOffsets(1)).toEqual([1]);
    slow.end();
    expect(await results).toEqual(['committed', 'committed', 'committed']);
    expect(open.published).toEqual(published(1, 2, 3));
  }));

/** Work that lasts until it is told to end. */
function holdUp() {
  let begin = () => {};
  let end = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = (): Promise<void> => {
    begin();
    return ended;
  };
  return { begun, end: () => end(), work };
}

describe('a Redis that falls back', () => {
  test('refuses the owner, who claims again and goes on from where it fell to', () =>
    withStore(freshRedisOptions([shared]), async ({ store, redis, stateOf, published: seen }) => {
      const claim = await store.claim(0);
      await store.commit(claim, commitOf(0, 10));
      const fallBack = await snapshot(redis);
      await store.commit(claim, commitOf(10, 20));
      await fallBack();
      expect(await store.commit(claim, commitOf(20, 30))).toBe('fenced');
      expect(await stateOf('device')).toBe('10');
      const again = await store.claim(0);
      expect(again.nextOffset).toBe(10);
      expect(await store.commit(again, commitOf(10, 20))).toBe('committed');
      expect(new Set(seen)).toEqual(new Set(published(10, 20)));
    }));

  test('takes two owners with one token for two', () =>
    withStore(freshRedisOptions([shared]), async ({ store, redis, stateOf }) => {
      const before = await store.claim(0);
      await store.commit(before, commitOf(0, 10));
      const fallBack = await snapshot(redis);
      const forgotten = await store.claim(0);
      await fallBack();
      const claim = await store.claim(0);
      expect(claim.token).toBe(forgotten.token);
      for (const zombie of [before, forgotten]) expect(await store.commit(zombie, commitOf(10, 99))).toBe('fenced');
      expect(await store.commit(claim, commitOf(10, 20))).toBe('committed');
      for (const zombie of [before, forgotten]) expect(await store.commit(zombie, commitOf(20, 99))).toBe('fenced');
      expect(await stateOf('device')).toBe('20');
    }));
});

describe('an answer that is lost', () => {
  async function onBadNetwork(use: (open: OpenStore, loseAnswer: () => () => void, direct: OpenStore) => Promise<void>) {
    const proxy = await startProxy(shared);
    const options = freshRedisOptions([proxy], { commandTimeoutMs: 10_000 });
    const loseAnswer = () => {
      proxy.dropsAnswers = true;
      return () => {
        proxy.cutOff();
        proxy.mend();
      };
    };
    await withStore(options, (open) => withStore({ ...options, nodes: [shared] }, (direct) => use(open, loseAnswer, direct)));
    await proxy.stop();
  }

  test('to a commit makes it neither refused nor done twice', () =>
    onBadNetwork(async ({ store, published: seen }, loseAnswer, direct) => {
      const claim = await store.claim(0);
      await store.commit(claim, commitOf(0, 1));
      const connectAgain = loseAnswer();
      const committing = store.commit(claim, commitOf(1, 2));
      await until(async () => (await direct.stateOf('device')) === '2');
      const [key] = await direct.redis.client.keys(`${direct.redis.options.prefix}*device:device`);
      await direct.redis.client.set(key!, 'untouched');
      connectAgain();
      expect(await committing).toBe('committed');
      expect(await direct.stateOf('device')).toBe('untouched');
      expect(seen).toEqual(published(1, 2));
      expect(await store.commit(claim, commitOf(2, 3))).toBe('committed');
    }));

  test('to a commit, after which another has claimed, is still that it was done', () =>
    onBadNetwork(async ({ store, published: seen }, loseAnswer, direct) => {
      const claim = await store.claim(0);
      const connectAgain = loseAnswer();
      const committing = store.commit(claim, commitOf(0, 1));
      await until(async () => (await direct.stateOf('device')) === '1');
      const successor = await direct.store.claim(0);
      expect(direct.published).toEqual(published(1));
      connectAgain();
      expect(await committing).toBe('committed');
      expect(seen).toEqual(published(1));
      expect(await store.commit(claim, commitOf(1, 2))).toBe('fenced');
      expect(await direct.store.commit(successor, commitOf(1, 2))).toBe('committed');
    }));

  test('to a claim leaves one owner', () =>
    onBadNetwork(async ({ store }, loseAnswer, direct) => {
      const before = await direct.store.claim(0);
      const connectAgain = loseAnswer();
      const claiming = store.claim(0);
      await until(async () => (await direct.store.commit(before, commitOf(0, 0))) === 'fenced');
      connectAgain();
      const claim = await claiming;
      expect(claim.token).toBeGreaterThan(before.token);
      expect(await store.commit(claim, commitOf(0, 1))).toBe('committed');
    }));
});

const devices = 50;
const recordsAround = 300;

/**
 * Applies records one by one, as the location stage does: claims again when refused, and finds in the store's states what its position says.
 * Some before `hurt`, those it lasts, and some after it.
 */
async function applyThrough({ store, stateOf, published: seen }: OpenStore, hurt: () => Promise<void>): Promise<void> {
  let claim: Claim = await store.claim(0);
  let offset = 0;
  let end = Number.POSITIVE_INFINITY;
  let hurting: Promise<void> | undefined;
  while (offset < end) {
    const key = `device ${offset % devices}`;
    const before = await stateOf(key);
    if ((await store.commit(claim, commitOf(offset, offset + 1, key))) === 'committed') {
      expect(before).toBe(offset < devices ? undefined : `${offset - devices + 1}`);
      offset += 1;
    } else {
      claim = await store.claim(0);
      offset = claim.nextOffset;
    }
    if (offset === recordsAround) {
      hurting ??= hurt().finally(() => {
        end = offset + recordsAround;
      });
    }
  }
  await hurting;
  expect([...new Set(seen)]).toEqual(published(...Array.from({ length: end }, (_, i) => i + 1)));
}

const fiveSeconds = () => new Promise((resolve) => setTimeout(resolve, 5_000));

async function standStill(server: Server): Promise<void> {
  await server.pause();
  await fiveSeconds();
  await server.resume();
}

async function dieAndReturn(server: Server): Promise<void> {
  await server.kill();
  await server.restart();
}

describe('every record is applied once and published', () => {
  let server: RedisServer;
  let cluster: RedisClusterServer;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startRedis({ appendonly: 'everysec' }), startRedisCluster()]);
  });
  afterAll(() => Promise.all([server.stop(), cluster.stop()]));

  const options = { commandTimeoutMs: 1_000 };

  test.each([
    ['stands still', standStill],
    ['dies and returns', dieAndReturn],
  ])('while a server %s', (_what, hurt) =>
    withStore(freshRedisOptions([server], options), (open) => applyThrough(open, () => hurt(server))),
  );

  test('while the node of a cluster stands still', () =>
    withStore(freshRedisOptions(cluster.nodes, options), async (open) => {
      const { node } = await placeOf(open, cluster);
      await applyThrough(open, () => standStill(node));
    }));

  test('while the partition moves to another node of the cluster', () =>
    withStore(freshRedisOptions(cluster.nodes, options), async (open) => {
      const { node, slot } = await placeOf(open, cluster);
      // The nodes may still be making up with the one that stood still.
      await until(async () => (await Promise.all(cluster.nodes.map(isContent))).every(Boolean));
      const target = cluster.nodes.find((each) => each !== node)!;
      await applyThrough(open, () => moveSlot(slot, node, target));
      expect((await placeOf(open, cluster)).node).toBe(target);
    }));
});

/** Where the first partition is. */
async function placeOf({ redis: { client, options } }: OpenStore, { nodes }: RedisClusterServer) {
  const slot = Number(await client.call('CLUSTER', 'KEYSLOT', `${options.prefix}{state.0}.meta`));
  const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  const [, , [, port]] = ranges.find(([first, last]) => first <= slot && slot <= last)!;
  return { slot, node: nodes.find((node) => node.port === port)! };
}

async function isContent({ host, port }: Address): Promise<boolean> {
  const client = new Redis({ host, port });
  const info = String(await client.call('CLUSTER', 'INFO'));
  client.disconnect();
  return info.includes('cluster_state:ok');
}

/** As redis-cli's reshard does it, key by key. */
async function moveSlot(slot: number, source: Address, target: Address): Promise<void> {
  const [from, to] = [source, target].map(({ host, port }) => new Redis({ host, port })) as [Redis, Redis];
  const [fromId, toId] = (await Promise.all([from, to].map((node) => node.call('CLUSTER', 'MYID')))) as [string, string];
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
  for (;;) {
    const [key] = (await from.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
    if (key === undefined) break;
    await from.call('MIGRATE', target.host, target.port, key, 0, 5_000);
  }
  for (const node of [to, from]) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  for (const node of [to, from]) node.disconnect();
}

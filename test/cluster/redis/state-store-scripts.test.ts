/**
 * Rules beyond the contract of every store: expiry, the outbox of a former owner, a Redis that falls back, and lost
 * replies.
 */
import { describe, expect, test } from 'vitest';
import type { RedisConnection } from '../../../backends/cluster/redis/connection.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { freshRedisOptions } from './fresh-redis.js';
import { absent, commitOf, type OpenStore, published, willing, withStore } from './open-store.js';

/** Stores all keys under the connection's prefix. Returns a function that restores them. */
async function snapshot({ client, options }: RedisConnection): Promise<() => Promise<void>> {
  const names = await client.keys(`${options.prefix}*`);
  const held = await Promise.all(names.map(async (name) => ({ name, value: await client.dumpBuffer(name) })));
  return async () => {
    await Promise.all((await client.keys(`${options.prefix}*`)).map((name) => client.del(name)));
    for (const { name, value } of held) await client.restore(name, 0, value!);
  };
}

const { redis: shared } = services()!;

test("a device without commits expires after the retention time, others and the position don't", () =>
  withStore(
    freshRedisOptions([shared]),
    async ({ store, stateOf }) => {
      const claim = await store.claim(0);
      await store.commit(claim, commitOf(0, 1, 'silent'));
      let offset = 1;
      await until(async () => {
        await store.commit(claim, commitOf(offset, ++offset, 'busy'));
        // A machine that stalls for longer than the retention time needs another round.
        return (await stateOf('silent')) === undefined && (await stateOf('busy')) === `${offset}`;
      });
      expect(await store.nextOffsets(2)).toEqual([offset, 0]);
    },
    500,
  ));

test("without a retention time devices don't expire", () =>
  withStore(freshRedisOptions([shared]), async ({ store, redis }) => {
    const claim = await store.claim(0);
    await store.commit(claim, commitOf(0, 1));
    const [key] = await redis.client.keys(`${redis.options.prefix}*device`);
    expect(await redis.client.pttl(key!)).toBe(-1);
  }));

test('published records and the outbox are in wire form', () =>
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
  test("can't commit, and the next owner publishes for it, once", () =>
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

  test("keeps its successors' outbox, however late it learns that its own records were published", () =>
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
      // Commands of one connection run in their order.
      await redis.client.ping();
      open.kafka = willing;
      await store.claim(0);
      expect(open.published.at(-1)).toBe('W 2');
    }));
});

test('a commit waits for the publication of the one before it, because the outbox holds one', () =>
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

/** Returns work that lasts until it is stopped. */
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

describe('a Redis that loses its last second', () => {
  test('refuses the owner, which claims again and continues from the stored position', () =>
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

  test('distinguishes two owners with the same token', () =>
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

describe('a lost reply', () => {
  async function onBadNetwork(
    use: (open: OpenStore, loseAnswer: () => () => void, direct: OpenStore) => Promise<void>,
  ) {
    const proxy = await startProxy(shared);
    const options = freshRedisOptions([proxy], { commandTimeoutMs: 10_000 });
    const loseAnswer = () => {
      proxy.dropsAnswers = true;
      return () => {
        proxy.cutOff();
        proxy.mend();
      };
    };
    await withStore(options, (open) =>
      withStore({ ...options, nodes: [shared] }, (direct) => use(open, loseAnswer, direct)),
    );
    await proxy.stop();
  }

  test('to a commit neither refuses nor repeats it', () =>
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

  test('to a commit before another claim still reports success', () =>
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

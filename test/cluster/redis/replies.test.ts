import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RedisOptions } from '../../../backends/cluster/options.js';
import { listen } from '../../../backends/cluster/redis/channel.js';
import type { RedisClient } from '../../../backends/cluster/redis/client.js';
import { connectRedis, type RedisConnection } from '../../../backends/cluster/redis/connection.js';
import { createRedisInbox, createRedisReplies } from '../../../backends/cluster/redis/replies.js';
import type { Inbox, Replies } from '../../../pipeline/ports.js';
import {
  type RedisClusterServer,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from '../../../testing/services/redis.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { describeRepliesContract, type RepliesSite } from '../../contract/replies.contract.js';
import { freshRedisOptions } from './fresh-redis.js';

const { redis: shared, redisCluster } = services()!;

const siteOn = (nodes: RedisOptions['nodes']) => async (): Promise<RepliesSite> => {
  const options = freshRedisOptions(nodes);
  const [stage, ...ingests] = await Promise.all([1, 2, 3].map(() => connectRedis(options, () => {})));
  const inboxes = (await Promise.all(ingests.map(createRedisInbox))) as [Inbox, Inbox];
  return {
    replies: createRedisReplies(stage!),
    inboxes,
    close: async () => void (await Promise.all([stage!, ...ingests].map(({ close }) => close()))),
  };
};

describeRepliesContract('Redis', siteOn([shared]));
describeRepliesContract('Redis Cluster', siteOn(redisCluster.nodes));

interface Pair {
  readonly replies: Replies;
  readonly inbox: Inbox;
  readonly received: string[];
  readonly ingest: RedisConnection;
}

async function withPair(options: RedisOptions, use: (pair: Pair) => Promise<void>): Promise<void> {
  const [stage, ingest] = (await Promise.all([1, 2].map(() => connectRedis(options, () => {})))) as [
    RedisConnection,
    RedisConnection,
  ];
  const inbox = await createRedisInbox(ingest);
  const received: string[] = [];
  inbox.onReply((request) => received.push(request));
  await use({ replies: createRedisReplies(stage), inbox, received, ingest });
  await Promise.all([stage.close(), ingest.close()]);
}

/** Sends until a reply arrives again. Replies may be lost for a while. Some may arrive twice, and none is invented. */
async function hearsAgain({ replies, inbox, received }: Pair): Promise<void> {
  received.length = 0;
  let sent = 0;
  await until(() => {
    replies.send(`${inbox.address}/${sent++}`, '{}');
    return received.length >= 3;
  });
  for (const request of received) expect(Number(request) >= 0 && Number(request) < sent, request).toBe(true);
}

test('replies of one turn share a message, large ones too', async () => {
  const server = await startRedis();
  await withPair(freshRedisOptions([server]), async ({ replies, inbox, received, ingest }) => {
    const messagesSeen = async () =>
      Number(/cmdstat_spublish:calls=(\d+)/.exec(await ingest.client.info('commandstats'))?.[1] ?? 0);
    const before = await messagesSeen();
    for (let i = 0; i < 1_000; i++) replies.send(`${inbox.address}/${i}`, '{}');
    await until(() => received.length === 1_000);
    // The limit allows for heartbeats.
    expect((await messagesSeen()) - before).toBeLessThan(100);
    for (let i = 0; i < 10; i++) replies.send(`${inbox.address}/large-${i}`, 'x'.repeat(700_000));
    await until(() => received.length === 1_010);
  });
  await server.stop();
});

describe('an inbox receives again', () => {
  let server: RedisServer;
  let cluster: RedisClusterServer;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
  });
  afterAll(() => Promise.all([server.stop(), cluster.stop()]));

  const sites = [
    ['a server', () => [server]],
    ['a cluster', () => cluster.nodes],
  ] as const;

  test.each(sites)('after %s has ended its connections', (_name, nodes) =>
    withPair(freshRedisOptions(nodes()), async (pair) => {
      for (const node of nodes()) {
        const redis = await connectRedis(freshRedisOptions([node]), () => {});
        await redis.client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
        await redis.close();
      }
      await hearsAgain(pair);
    }),
  );

  test.each(sites)('after %s was killed and started again', (_name, nodes) =>
    withPair(freshRedisOptions(nodes()), async (pair) => {
      await Promise.all(nodes().map((node) => node.kill()));
      await Promise.all(nodes().map((node) => node.restart()));
      await hearsAgain(pair);
    }),
  );

  test.each(sites)('after %s was paused', (_name, nodes) =>
    withPair(freshRedisOptions(nodes(), { commandTimeoutMs: 500 }), async (pair) => {
      await Promise.all(nodes().map((node) => node.pause()));
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await Promise.all(nodes().map((node) => node.resume()));
      await hearsAgain(pair);
    }),
  );
});

// Concurrent, because each test waits for heartbeats.
describe.concurrent('by its heartbeats', () => {
  interface Heard {
    readonly redis: RedisConnection;
    readonly channel: string;
    /** The first client. Another one may replace it. */
    readonly subscriber: RedisClient;
    /** Resolves when a message arrives. Those before this call must not arrive. */
    hearsAgain(): Promise<void>;
  }

  async function withListener(
    nodes: RedisOptions['nodes'],
    name: string,
    use: (heard: Heard) => Promise<void>,
  ): Promise<void> {
    const redis = await connectRedis(freshRedisOptions(nodes), () => {});
    const channel = `${redis.options.prefix}${name}`;
    const subscribers: RedisClient[] = [];
    const heard: string[] = [];
    const newSubscriber = () => {
      const subscriber = redis.newSubscriber();
      subscribers.push(subscriber);
      return subscriber;
    };
    await listen({ ...redis, newSubscriber }, channel, (message) => heard.push(message));
    async function hearsAgain() {
      let sent = 0;
      await until(async () => {
        await redis.client.spublish(channel, `${sent++}`);
        return heard.length > 0;
      });
      expect(heard).not.toContain('unheard');
    }
    await use({ redis, channel, subscriber: subscribers[0]!, hearsAgain });
    await redis.close();
  }

  test.each([
    ['a server', [shared]],
    ['a cluster', redisCluster.nodes],
  ])('a silently lost subscription on %s is renewed', (_name, nodes) =>
    withListener(nodes, 'channel', async ({ redis, channel, subscriber, hearsAgain }) => {
      await subscriber.sunsubscribe(channel);
      await redis.client.spublish(channel, 'unheard');
      await hearsAgain();
    }),
  );

  test('a client that was disconnected while it connected to a node is replaced', () =>
    // In slot 67 by its braces, so that the first node to which a client connects has the channel.
    withListener(redisCluster.nodes, '{7g}', async ({ redis, channel, subscriber, hearsAgain }) => {
      // From then on ioredis waits for that connection without end, and subscribes nowhere.
      subscriber.once('+subscriber', () => setImmediate(() => subscriber.disconnect(true)));
      subscriber.disconnect(true);
      await redis.client.spublish(channel, 'unheard');
      await hearsAgain();
    }));
});

test('while Redis does not answer, replies are dropped', async () => {
  const server = await startRedis();
  await withPair(freshRedisOptions([server], { commandTimeoutMs: 60_000 }), async ({ replies, inbox, received }) => {
    await server.pause();
    const body = 'x'.repeat(100_000);
    const sent = 1_000;
    for (let i = 0; i < sent; i++) {
      replies.send(`${inbox.address}/${i}`, body);
      if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await server.resume();
    await until(() => {
      replies.send(`${inbox.address}/last`, '{}');
      return received.includes('last');
    });
    expect(received.filter((request) => request !== 'last').length).toBeLessThan(sent / 4);
  });
  await server.stop();
});

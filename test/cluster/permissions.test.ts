/** The permissions in docs/cluster.md are enough for Fenceline, and allow no other keys or channels. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { startRedisClock } from '../../backends/cluster/redis/clock.js';
import { connectRedis, type RedisConnection } from '../../backends/cluster/redis/connection.js';
import { createRedisDeliveryQueue } from '../../backends/cluster/redis/delivery-queue.js';
import { createRedisExpiringValues } from '../../backends/cluster/redis/expiring-values.js';
import { createRedisLeases } from '../../backends/cluster/redis/leases.js';
import { createRedisPositions } from '../../backends/cluster/redis/positions.js';
import { createRedisInbox, createRedisReplies } from '../../backends/cluster/redis/replies.js';
import { createRedisStateStore } from '../../backends/cluster/redis/state-store.js';
import { createKnownIds } from '../../backends/cluster/registry/known-ids.js';
import type { DeliverySource } from '../../pipeline/ports.js';
import { withRedis } from '../../testing/services/clients.js';
import type { Address } from '../../testing/services/ports.js';
import { services } from '../../testing/services/services.js';
import { until } from '../../testing/until.js';
import { freshRedisOptions } from './redis/fresh-redis.js';

const guide = readFileSync(new URL('../../docs/cluster.md', import.meta.url), 'utf8');
const [, rules = ''] = /^user fenceline on >PASSWORD (.+)$/m.exec(guide) ?? [];
const ofClusters = / \+cluster\|\S+/g;

const { redis, redisCluster } = services()!;
const onAll = (nodes: readonly Address[], command: string, ...args: string[]) =>
  Promise.all(nodes.map((node) => withRedis(node, (client) => client.call(command, ...args))));

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Connects as a user with the permissions in the guide, for its own prefix. */
async function connectAsTold(nodes: readonly Address[]): Promise<RedisConnection> {
  const username = `fenceline-${randomBytes(6).toString('hex')}`;
  const options = freshRedisOptions(nodes, { username, password: 'secret' });
  const told = (options.isCluster ? rules : rules.replace(ofClusters, '')).replaceAll('fenceline:', options.prefix);
  await onAll(nodes, 'ACL', 'SETUSER', username, 'on', '>secret', ...told.split(' '));
  endings.push(() => onAll(nodes, 'ACL', 'DELUSER', username));
  const connection = await connectRedis(options, () => {});
  endings.push(() => connection.close());
  return connection;
}

const webhook = '0123456789abcdef01234567';
const source: DeliverySource = { topic: 'events', partition: 0 };

/** Uses everything that is stored in Redis or sent through it. */
async function useAll(connection: RedisConnection): Promise<void> {
  await (await startRedisClock(connection)).close();
  const states = createRedisStateStore({
    redis: connection,
    wire: { toWire() {} },
    publish: async () => {},
    publishMissing: async () => {},
    retentionMs: 60_000,
  });
  const claim = await states.claim(0);
  const publish = [{ topic: 'events', records: [{ key: 'a', value: Buffer.from('event') }] }] as const;
  const changed = new Map([
    ['a', Buffer.from('state')],
    ['b', null],
  ]);
  const commit = { expectedOffset: 0, nextOffset: 1, states: changed, publish };
  expect(await states.commit(claim, commit)).toBe('committed');
  expect(await states.load(0, ['a'])).toEqual([Buffer.from('state')]);
  expect(await states.nextOffsets(1)).toEqual([1]);

  const queue = createRedisDeliveryQueue({ redis: connection, partitions: 1 });
  const owner = await queue.claim(source);
  const deliveries = [1, 2].map((dueAtMs) => ({ webhook, dueAtMs, value: Buffer.from('delivery') }));
  expect(await queue.add(owner, { expectedOffset: 0, nextOffset: 1, deliveries })).toBe('committed');
  const [first] = await queue.waiting(source, webhook, 10);
  expect(await queue.settle(owner, [{ place: first!, next: { dueAtMs: 3, attempts: 1 } }])).toBe('committed');
  expect(await queue.webhooks(source)).toEqual([{ webhook, nextDueAtMs: 2 }]);
  await queue.erase(source, webhook, (await queue.waiting(source, webhook, 10)).slice(0, 1));
  expect(await queue.size()).toBe(1);
  expect(await queue.drop(owner, webhook)).toBe('committed');
  expect(await queue.size()).toBe(0);
  await queue.setHealth(webhook, { failingSinceMs: null, lastSuccessAtMs: 1 }, 1_000);
  expect(await queue.health(webhook)).toEqual({ failingSinceMs: null, lastSuccessAtMs: 1 });

  const positions = createRedisPositions(connection);
  await positions.set('group', 'events', 0, { offset: 5, mark: null });
  expect(await positions.get('group', 'events', 0)).toEqual({ offset: 5, mark: null });
  expect(await createRedisLeases(connection).take('work', 60_000)).toBe(true);
  const values = createRedisExpiringValues(connection);
  expect(await values.put('key', 'value', 60_000, { current: null })).toBe(true);
  expect(await values.get('key')).toBe('value');
  expect(await values.increment('count', 60_000)).toBe(1);
  await values.delete('key', { current: 'value' });
  await values.delete('count');
  const ids = createKnownIds(connection);
  await ids.write([{ subject: 'subject', id: 1, schema: '{}', givenAtMs: 1 }]);
  expect(await ids.read()).toHaveLength(1);
  await exchangeReply(connection);
}

async function exchangeReply(connection: RedisConnection): Promise<void> {
  const inbox = await createRedisInbox(connection);
  const replies = createRedisReplies(connection);
  let heard = false;
  inbox.onReply(() => {
    heard = true;
  });
  // Messages may be lost until the subscription has reached all nodes of a cluster.
  await until(() => {
    replies.send(`${inbox.address}/1`, 'body');
    return heard;
  });
}

describe.each([
  ['Redis', [redis]],
  ['Redis Cluster', redisCluster.nodes],
])('%s', (_, nodes) => {
  test('grants the user in the guide all permissions that Fenceline needs', async () => {
    await useAll(await connectAsTold(nodes));
  });

  test('denies that user everything else', async () => {
    const { client } = await connectAsTold(nodes);
    await expect(client.get('somebody else')).rejects.toThrow(/NOPERM/);
    await expect(client.spublish('somebody else', 'x')).rejects.toThrow(/NOPERM/);
    await expect(client.call('FLUSHALL')).rejects.toThrow(/NOPERM/);
    await expect(client.call('CONFIG', 'GET', '*')).rejects.toThrow(/NOPERM/);
  });
});

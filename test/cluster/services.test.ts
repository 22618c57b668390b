/**
 * The services that other tests use behave as documented: they answer, refuse, keep and lose data as they should, and
 * leave nothing behind. Brokers are killed, paused and restarted in `kafka/log-brokers`, and refuse clients in
 * `kafka/security`.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, type Redis } from 'ioredis';
import type { KafkaConfig } from 'kafkajs';
import { Agent, fetch } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';
import { startProgram } from '../../testing/built.js';
import { makeCertificates } from '../../testing/services/certificates.js';
import { type RedisConnection, withKafka, withRedis } from '../../testing/services/clients.js';
import { type Address, loopback } from '../../testing/services/ports.js';
import { startProxy } from '../../testing/services/proxy.js';
import { shortNodeTimeoutMs, startRedis, startRedisCluster } from '../../testing/services/redis.js';
import { startRegistry, startRegistryFront } from '../../testing/services/registry.js';
import { services } from '../../testing/services/services.js';
import { until } from '../../testing/until.js';

const { kafka, redis, redisCluster, registry, clickhouse } = services()!;

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** Starts a service, which the end of the test stops. */
async function here<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  endings.push(() => server.stop());
  return server;
}

describe('Kafka', () => {
  test('the shared server answers', async () => {
    expect(await brokersSeenBy({ brokers: [...kafka.brokers] })).toBe(1);
  });
});

const brokersSeenBy = (config: KafkaConfig): Promise<number> =>
  withKafka(config, async (admin) => (await admin.describeCluster()).brokers.length);

describe('Redis', () => {
  test('the shared server answers', async () => {
    expect(await withRedis(addressOf(redis), (client) => client.ping())).toBe('PONG');
  });

  test('keeps its data through SIGKILL with an append-only file, otherwise only snapshots', async () => {
    const [appending, forgetful] = await Promise.all([here(startRedis({ appendfsync: 'always' })), here(startRedis())]);
    for (const server of [appending, forgetful]) {
      await withRedis(addressOf(server), async (client) => {
        await client.set('saved', 'yes');
        await client.save();
        await client.set('written', 'yes');
      });
      await server.kill();
      await expect(withRedis(addressOf(server), (client) => client.ping())).rejects.toThrow('ECONNREFUSED');
      await server.restart();
    }
    const kept = (server: Address) => withRedis(addressOf(server), (client) => client.mget('saved', 'written'));
    expect(await kept(appending)).toEqual(['yes', 'yes']);
    expect(await kept(forgetful)).toEqual(['yes', null]);
  });

  test('accepts only its users, with their permissions, over TLS', async () => {
    const certificates = await makeCertificates();
    const users = { alice: { password: 'right' }, reader: { password: 'right', rules: '~shown:* +get +ping' } };
    const server = await here(startRedis({ tls: { certificates, demandsClientCertificate: true }, users }));
    const tls = { ca: certificates.ca, ...certificates.client };
    const alice = { username: 'alice', password: 'right', tls };
    expect(await withRedis({ ...addressOf(server), ...alice }, (client) => client.set('shown:a', '1'))).toBe('OK');
    const reader = { ...alice, username: 'reader', enableReadyCheck: false };
    expect(await withRedis({ ...addressOf(server), ...reader }, (client) => client.get('shown:a'))).toBe('1');
    await expect(withRedis({ ...addressOf(server), ...reader }, (client) => client.get('hidden'))).rejects.toThrow(
      'NOPERM',
    );
    const refused: Record<string, RedisConnection> = {
      'a wrong password': { ...alice, password: 'wrong' },
      'no name': { tls },
      'no certificate': { ...alice, tls: { ca: certificates.ca } },
      'an authority that signed nothing': { ...alice, tls: certificates.client },
      'no encryption': { username: 'alice', password: 'right' },
    };
    for (const [reason, options] of Object.entries(refused)) {
      await expect(
        withRedis({ ...addressOf(server), ...options }, (client) => client.get('shown:a')),
        reason,
      ).rejects.toThrow();
    }
  });

  test('can be paused; rejects writes when it is out of memory', async () => {
    const server = await here(startRedis({ maxmemory: '3mb' }));
    await server.pause();
    const limits = { connectTimeout: 1_000, commandTimeout: 1_000 };
    await expect(withRedis({ ...addressOf(server), ...limits }, (client) => client.ping())).rejects.toThrow();
    await server.resume();
    expect(await withRedis(addressOf(server), (client) => client.ping())).toBe('PONG');
    const fill = (client: Redis) => client.set('large', Buffer.alloc(4 << 20)).then(() => client.set('more', '1'));
    await expect(withRedis(addressOf(server), fill)).rejects.toThrow('OOM');
  });

  test('the shared cluster spreads keys over its nodes', async () => {
    const found = await withCluster(redisCluster.nodes, (client) => setAndGet(client, 'services-test:'));
    expect(found).toEqual(keys);
  });

  test('a cluster is down while one of its nodes is', async () => {
    const cluster = await here(startRedisCluster({ nodeTimeoutMs: shortNodeTimeoutMs }));
    expect(await withCluster(cluster.nodes, (client) => setAndGet(client, ''))).toEqual(keys);
    await cluster.nodes[2]!.kill();
    const state = () => withRedis(addressOf(cluster.nodes[0]!), (client) => client.cluster('INFO'));
    await until(async () => (await state()).includes('cluster_state:fail'));
    await cluster.nodes[2]!.restart();
    await until(async () => (await state()).includes('cluster_state:ok'));
  });
});

const addressOf = ({ host, port }: Address): Address => ({ host, port });

const keys = Array.from({ length: 50 }, (_, index) => `key-${index}`);

async function setAndGet(client: Cluster, prefix: string): Promise<(string | null)[]> {
  await Promise.all(keys.map((key) => client.set(prefix + key, key, 'EX', 60)));
  return Promise.all(keys.map((key) => client.get(prefix + key)));
}

async function withCluster<T>(nodes: readonly Address[], action: (client: Cluster) => Promise<T>): Promise<T> {
  const client = new Cluster([...nodes]);
  try {
    return await action(client);
  } finally {
    client.disconnect();
  }
}

describe('registry', () => {
  const schema = { schema: JSON.stringify({ type: 'record', name: 'R', fields: [{ name: 'a', type: 'int' }] }) };

  test('the shared server answers', async () => {
    expect(await ask(`${registry.url}/subjects`)).toMatchObject({ status: 200 });
  });

  test('a restarted registry is empty', async () => {
    const server = await here(startRegistry());
    expect(await ask(`${server.url}/subjects/s/versions`, { body: schema })).toMatchObject({ status: 200 });
    expect(await ask(`${server.url}/subjects`)).toEqual({ status: 200, body: ['s'] });
    await server.pause();
    await expect(ask(`${server.url}/subjects`, { timeoutMs: 1_000 })).rejects.toThrow();
    await server.resume();
    expect(await ask(`${server.url}/subjects`)).toEqual({ status: 200, body: ['s'] });
    await server.kill();
    await expect(ask(`${server.url}/subjects`)).rejects.toThrow();
    await server.restart();
    expect(await ask(`${server.url}/subjects`)).toEqual({ status: 200, body: [] });
  });

  test('a front before it requires the password and TLS', async () => {
    const certificates = await makeCertificates();
    const settings = { basicAuth: { username: 'alice', password: 'right' }, tls: { certificates } };
    const front = await here(startRegistryFront(registry, settings));
    const { ca } = certificates;
    const url = `${front.url}/subjects/services-test-${new URL(front.url).port}/versions`;
    const as = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    expect(await ask(url, { ca, headers: as('alice:right'), body: schema })).toMatchObject({ status: 200 });
    expect(await ask(url, { ca, headers: as('alice:wrong'), body: schema })).toMatchObject({ status: 401 });
    expect(await ask(url, { ca, body: schema })).toMatchObject({ status: 401 });
    await expect(ask(url, { headers: as('alice:right') })).rejects.toThrow();
    await expect(ask(url.replace('https', 'http'), { ca, headers: as('alice:right') })).rejects.toThrow();
  });
});

interface Question {
  readonly ca?: string;
  readonly headers?: Record<string, string>;
  /** The body, sent as JSON with POST. */
  readonly body?: object;
  readonly timeoutMs?: number;
}

async function ask(
  url: string,
  { ca, headers, body, timeoutMs = 60_000 }: Question = {},
): Promise<{ status: number; body: unknown }> {
  const dispatcher = new Agent({ connect: { ...(ca && { ca }) } });
  try {
    const response = await fetch(url, {
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
      headers: { 'content-type': 'application/json', ...headers },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text && JSON.parse(text) };
  } finally {
    await dispatcher.destroy();
  }
}

test('the shared ClickHouse requires its password', async () => {
  const as = (password: string) => ({
    authorization: `Basic ${Buffer.from(`${clickhouse.username}:${password}`).toString('base64')}`,
  });
  const url = `${clickhouse.url}/?query=${encodeURIComponent('SELECT 1 FORMAT JSONCompact')}`;
  expect(await ask(url, { headers: as(clickhouse.password) })).toMatchObject({ status: 200, body: { data: [[1]] } });
  expect((await fetch(url, { headers: as('wrong') })).status).toBeGreaterThanOrEqual(400);
});

test('a proxy delays, drops responses, disconnects and recovers', async () => {
  const proxy = await here(startProxy(redis));
  const ping = (limits: Partial<RedisConnection> = {}) =>
    withRedis({ ...addressOf(proxy), ...limits }, (client) => client.ping());
  expect(await ping()).toBe('PONG');
  proxy.delayMs = 600;
  await expect(ping({ commandTimeout: 500 })).rejects.toThrow('timed out');
  proxy.mend();
  expect(await ping()).toBe('PONG');

  const key = `services-test:${proxy.port}`;
  proxy.dropsAnswers = true;
  const socket = connect(proxy);
  socket.write(`SET ${key} said EX 60\r\n`);
  await until(() => withRedis(addressOf(redis), (client) => client.get(key)));
  expect(socket.bytesRead).toBe(0);
  socket.destroy();
  proxy.mend();

  proxy.cutOff();
  await expect(ping()).rejects.toThrow();
  proxy.mend();
  expect(await ping()).toBe('PONG');
});

const refuses = (address: RedisConnection): Promise<boolean> =>
  withRedis(address, (client) => client.ping()).then(
    () => false,
    (error: Error) => error.message.includes('ECONNREFUSED'),
  );

test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
  'a server ends when the process that started it ends by %s',
  async (signal) => {
    const folder = await mkdtemp(join(tmpdir(), 'fenceline-left-behind-'));
    endings.push(() => rm(folder, { recursive: true }));
    const holder = startProgram('testing/services/holder', [folder]);
    await holder.printed(1);
    const address = { host: loopback, port: Number(holder.lines[0]) };
    expect(await withRedis(address, (client) => client.ping())).toBe('PONG');
    expect(await readdir(folder)).toHaveLength(1);
    holder.child.kill(signal);
    expect(await holder.ended).toBe(signal);
    await until(async () => (await readdir(folder)).length === 0);
    // Its port closes a moment after the signal.
    await until(() => refuses(address));
  },
);

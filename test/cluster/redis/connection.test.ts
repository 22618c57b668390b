import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RedisOptions } from '../../../backends/cluster/options.js';
import { Patience } from '../../../backends/cluster/patience.js';
import { connectRedis, type RedisConnection } from '../../../backends/cluster/redis/connection.js';
import { refuseEviction } from '../../../backends/cluster/redis/eviction.js';
import { forRequests } from '../../../backends/cluster/redis/for-requests.js';
import { createRedisLeases } from '../../../backends/cluster/redis/leases.js';
import { createRedisPositions } from '../../../backends/cluster/redis/positions.js';
import { createRedisInbox, createRedisReplies } from '../../../backends/cluster/redis/replies.js';
import { createScript, runScript } from '../../../backends/cluster/redis/scripts.js';
import { createRedisStateStore } from '../../../backends/cluster/redis/state-store.js';
import { createRedisStates } from '../../../backends/cluster/redis/states.js';
import { ServiceError } from '../../../backends/cluster/service-error.js';
import { makeCertificates } from '../../../testing/services/certificates.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { type RedisServer, startRedis } from '../../../testing/services/redis.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { freshRedisOptions } from './fresh-redis.js';

async function withConnection(
  options: RedisOptions,
  use: (redis: RedisConnection) => Promise<void>,
): Promise<string[]> {
  const problems: string[] = [];
  const redis = await connectRedis(options, (message) => problems.push(message));
  try {
    await use(redis);
  } finally {
    await redis.close();
  }
  return problems;
}

const { redis: shared, redisCluster } = services()!;

describe.each([
  ['a server', [shared]],
  ['a cluster', redisCluster.nodes],
])('on %s', (_name, nodes) => {
  const echo = createScript('return { KEYS[1], ARGV[1], #ARGV, redis.call("GET", KEYS[1]) }');

  test('a script runs whether the server has it or not, with thousands of arguments', () =>
    withConnection(freshRedisOptions(nodes), async (redis) => {
      const key = `${redis.options.prefix}é`;
      await redis.client.set(key, 'value');
      const args = Array.from({ length: 20_000 }, (_, i) => Buffer.from(`ü ${i}`));
      const unknown = createScript(`${echo.lua} -- ${key}`);
      for (const script of [unknown, unknown, echo]) {
        const [name, first, count, value] = (await runScript(redis, script, [key], args)) as [
          Buffer,
          Buffer,
          number,
          Buffer,
        ];
        expect([`${name}`, `${first}`, count, `${value}`]).toEqual([key, 'ü 0', 20_000, 'value']);
      }
    }));

  test('a permanent error rejects at once, without the command', () =>
    withConnection(freshRedisOptions(nodes), async ({ client, options, withRetries }) => {
      const tries = withRetries(() => client.call('SET', options.prefix, 'a secret', 'NONSENSE') as Promise<unknown>);
      const error: Error = await tries.then(
        () => expect.fail(),
        (reason) => reason,
      );
      expect(error.message).toMatch('syntax error');
      expect(JSON.stringify({ ...error })).not.toMatch('secret');
    }));
});

test('a server that evicts keys is refused; one with noeviction is not', async () => {
  const server = await startRedis({ maxmemory: '100mb' });
  try {
    await withConnection(freshRedisOptions([server]), async (redis) => {
      await refuseEviction(redis);
      for (const policy of ['allkeys-lru', 'volatile-ttl']) {
        await redis.client.call('CONFIG', 'SET', 'maxmemory-policy', policy);
        await expect(refuseEviction(redis)).rejects.toThrow(`maxmemory-policy ${policy}`);
      }
      await redis.client.call('CONFIG', 'SET', 'maxmemory', '0');
      await refuseEviction(redis);
    });
  } finally {
    await server.stop();
  }
});

test('a refused connection is retried until a server listens', async () => {
  const proxy = await startProxy(shared);
  proxy.cutOff();
  const problems: string[] = [];
  const connecting = connectRedis(freshRedisOptions([proxy]), (message) => problems.push(message));
  await until(() => problems.length > 0);
  proxy.mend();
  const redis = await connecting;
  expect(await redis.client.ping()).toBe('PONG');
  await redis.close();
  await proxy.stop();
});

describe('TLS and users', () => {
  /** The permissions that Fenceline needs. */
  const rules =
    '~fenceline:* &fenceline:* -@all +@read +@write +@connection +eval +evalsha +spublish +ssubscribe +info +cluster|slots +cluster|info';
  let server: RedisServer;
  let options: RedisOptions;
  beforeAll(async () => {
    const certificates = await makeCertificates();
    server = await startRedis({
      tls: { certificates, demandsClientCertificate: true },
      users: { ours: { password: 'right', rules } },
    });
    const tls = { ca: certificates.ca, ...certificates.client };
    options = freshRedisOptions([server], { prefix: 'fenceline:', tls, username: 'ours', password: 'right' });
  });
  afterAll(() => server.stop());

  test("allow Fenceline's commands", () =>
    withConnection(options, async (redis) => {
      const nowhere = { publish: async () => {}, publishMissing: async () => {} };
      const store = createRedisStateStore({ redis, retentionMs: 1_000, wire: { toWire: () => {} }, ...nowhere });
      const claim = await store.claim(0);
      const states = new Map([['device', Buffer.from('state')]]);
      const publish = [{ topic: 'events' as const, records: [{ key: 'device', value: Buffer.from('event') }] }];
      expect(await store.commit(claim, { expectedOffset: 0, nextOffset: 1, states, publish })).toBe('committed');
      expect(`${(await store.load(0, ['device']))[0]}`).toBe('state');
      await createRedisPositions(redis).set('group', 'events', 0, { offset: 7, mark: 'm' });
      expect(await createRedisPositions(redis).get('group', 'events', 0)).toEqual({ offset: 7, mark: 'm' });
      expect(await createRedisLeases(redis).take('work', 1_000)).toBe(true);
      const inbox = await createRedisInbox(redis);
      const reply = new Promise((resolve) => inbox.onReply((request) => resolve(request)));
      createRedisReplies(redis).send(`${inbox.address}/request`, '{}');
      expect(await reply).toBe('request');
    }));

  test('refuse other users at once, without the password in the error', async () => {
    const { cert: _, key: __, ...withoutCertificate } = options.tls!;
    const wrong = [
      [{ ...options, password: 'wrong-one' }, 'WRONGPASS'],
      [{ ...options, tls: {} }, 'certificate'],
      [{ ...options, tls: withoutCertificate }, 'certificate required'],
    ] as const;
    for (const [each, reason] of wrong) {
      const problems: string[] = [];
      const error = await connectRedis(each, (message) => problems.push(message)).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect(`${error.message} ${JSON.stringify({ ...error })} ${problems}`).not.toMatch(/wrong-one|right/);
      expect(error.message).toMatch(reason);
    }
  });
});

describe('during an outage', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  test('commands fail at once and are not queued', async () => {
    const proxy = await startProxy(server);
    const problems = await withConnection(freshRedisOptions([proxy]), async ({ client, options, withRetries }) => {
      await client.set(options.prefix, 0);
      proxy.cutOff();
      await until(() => client.status !== 'ready');
      // Queued commands would wait for the connection, which is cut off.
      const failures = await Promise.allSettled(Array.from({ length: 1_000 }, () => client.incr(options.prefix)));
      expect(failures.every(({ status }) => status === 'rejected')).toBe(true);
      const waiting = withRetries(() => client.get(options.prefix));
      proxy.mend();
      expect(await waiting).toBe('0');
    });
    await proxy.stop();
    expect(problems.every((message) => message.startsWith('redis: '))).toBe(true);
  });

  test('a server that was paused is retried, and unanswered commands fail', async () => {
    await withConnection(
      freshRedisOptions([server], { commandTimeoutMs: 500 }),
      async ({ client, options, withRetries }) => {
        await server.pause();
        const unanswered = client.incr(options.prefix).catch(({ message }) => message);
        const value = Buffer.alloc(2 ** 20);
        let attempts = 0;
        const waiting = withRetries(() => {
          attempts += 1;
          return client.set(options.prefix, value);
        });
        expect(await unanswered).not.toBe(1);
        await until(() => attempts >= 3);
        await server.resume();
        expect(await waiting).toBe('OK');
      },
    );
  });

  // A process ended with "Stream isn't writeable", which names neither the server nor the reason.
  test('regression: work that is given up names the server and why it is out of reach', async () => {
    const proxy = await startProxy(server);
    const address = `${proxy.host}:${proxy.port}`;
    await withConnection(freshRedisOptions([proxy]), async ({ client, withRetries }) => {
      await proxy.stop();
      await until(() => client.status !== 'ready');
      const error = await withRetries(() => client.ping(), 500).catch((thrown) => thrown);
      expect(error).toBeInstanceOf(ServiceError);
      expect(error.message).toBe(`Redis at ${address} can't be used: connect ECONNREFUSED ${address}`);
    });
  });

  test('a killed server is retried until it restarts', async () => {
    await withConnection(freshRedisOptions([server]), async ({ client, withRetries }) => {
      await server.kill();
      const waiting = withRetries(() => client.ping());
      await server.restart();
      expect(await waiting).toBe('PONG');
    });
  });

  test('a server that refuses writes for a while is retried', async () => {
    await withConnection(freshRedisOptions([server]), async ({ client, options, withRetries }) => {
      const operator = await connectRedis(options, () => {});
      await operator.client.call('REPLICAOF', '127.0.0.1', '1');
      await expect(client.set(options.prefix, 'value')).rejects.toThrow('READONLY');
      const waiting = withRetries(() => client.set(options.prefix, 'value'));
      await operator.client.call('REPLICAOF', 'NO', 'ONE');
      expect(await waiting).toBe('OK');
      await operator.close();
    });
  });

  // The process ended after a minute, and so did each that followed it, for as long as the memory was full.
  test('work waits for as long as the server has no memory left, until the node stops', async () => {
    const patience = new Patience();
    const options = freshRedisOptions([server]);
    const redis = await connectRedis(options, () => {}, { patience, outageLimitMs: 500 });
    const { client, withRetries } = redis;
    const isSettled = async (work: Promise<unknown>) => (await Promise.race([work, 'waiting'])) !== 'waiting';
    await client.config('SET', 'maxmemory', 1);
    const waiting = withRetries(() => client.set(options.prefix, 'value'));
    await expect(withRetries(() => client.set(options.prefix, 'value'), 500)).rejects.toThrow('OOM');
    await until(() => patience.waits > 10);
    expect(await isSettled(waiting)).toBe(false);
    await client.config('SET', 'maxmemory', 0);
    expect(await waiting).toBe('OK');

    await client.config('SET', 'maxmemory', 1);
    const ending = withRetries(() => client.set(options.prefix, 'value'));
    patience.end();
    await expect(ending).rejects.toThrow('OOM');
    await client.config('SET', 'maxmemory', 0);
    await redis.close();
  });

  test('requests fail without waiting for the server, whether it is paused or down', async () => {
    await withConnection(freshRedisOptions([server], { commandTimeoutMs: 600_000 }), async (redis) => {
      const states = createRedisStates(forRequests(redis));
      expect(await states.load(0, ['device'])).toEqual([undefined]);
      for (const [hurt, mend] of [
        [() => server.pause(), () => server.resume()],
        [() => server.kill(), () => server.restart()],
      ] as const) {
        await hurt();
        await expect(states.load(0, ['device'])).rejects.toMatchObject({ code: 'unavailable' });
        await mend();
        await until(() => states.load(0, ['device']).catch(() => undefined));
      }
    });
  });

  test('close ends all retries', async () => {
    const redis = await connectRedis(freshRedisOptions([server], { commandTimeoutMs: 500 }), () => {});
    await server.pause();
    const waiting = redis.withRetries(() => redis.client.ping()).catch(({ message }) => message);
    const closing = redis.close();
    expect(await waiting).not.toBe('PONG');
    await closing;
    await server.resume();
  });
});

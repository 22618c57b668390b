/**
 * A cluster is backed up by deploy/backup-cluster.sh while locations arrive, loses all its services, and is restored:
 * deploy/rehearse-restore.sh finds the copies to fit together, every location that was acknowledged before the
 * backup is evaluated once, and the tables have its row and its event. The rehearsal sends nothing, although a sync is
 * due, a webhook has deliveries and a collector is configured.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { topics } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { launchServer } from '../../server/server-process.js';
import { Receiver } from '../../testing/receiver.js';
import { withRedis } from '../../testing/services/clients.js';
import { startKafka } from '../../testing/services/kafka.js';
import { type Address, freePorts } from '../../testing/services/ports.js';
import { startProxy } from '../../testing/services/proxy.js';
import { startRedis, startRedisCluster } from '../../testing/services/redis.js';
import { until } from '../../testing/until.js';
import { readTopic } from '../ledger/ledger.js';
import { clusterSources } from '../ledger/sources.js';
import { ok } from '../support/client.js';
import { newTestCluster } from '../support/cluster.js';
import { ClusterNodes } from '../support/cluster-nodes.js';
import { circle, standing } from '../support/places.js';
import { program } from '../support/program.js';
import { patientReplies } from '../support/server.js';
import { oneNode } from './faults/run.js';

const script = (name: string): string => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));
const run = promisify(execFile);
const itself = '127.0.0.0/8';

it('a backup under load is restored, and nothing acknowledged before it is missing or doubled', async () => {
  const [kafka, redis] = await Promise.all([startKafka(), startRedis({ appendfsync: 'everysec' })]);
  onTestFinished(async () => void (await Promise.all([kafka.stop(), redis.stop()])));
  const [broker] = kafka.nodes;
  if (broker?.folder === undefined || redis.folder === undefined) return expect.fail('run the tests with .ci/services');
  const cluster = newTestCluster({ kafka, redis })!;
  const environment = {
    ...cluster.environment,
    ...patientReplies,
    FENCELINE_LOCATIONS_PARTITIONS: '4',
    FENCELINE_SYNC_ALLOWED_NETWORKS: itself,
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: itself,
  };
  const folder = await newFolder();
  const outside = await Receiver.start();
  onTestFinished(() => outside.close());
  // Reads of the file, and deliveries, are never answered. So the backup has a run of the sync and waiting deliveries.
  outside.answering = () => {};

  const nodes = await ClusterNodes.start(environment, oneNode);
  onTestFinished(() => nodes.dispose());
  const api = nodes.as('test_secret');
  await api.putGeofence('gate', circle(0, 0, 100));
  ok(await api.post('/v1/webhooks', { url: outside.url('/hook') }));
  ok(await api.put('/v1/sync', { protocol: 'http', urls: [outside.url('/stores.csv')] }));
  await expect.poll(() => outside.at('/stores.csv').length).toBeGreaterThan(0);
  const acknowledged: string[] = [];
  let isSending = true;
  const send = async (): Promise<void> => {
    for (let index = 0; isSending; index++) {
      const deviceId = `device-${index}`;
      await nodes.as('test_publishable').track({ deviceId, ...standing(0, 0) });
      acknowledged.push(deviceId);
    }
  };
  const sending = send();
  await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
  await expect.poll(() => outside.at('/hook').length).toBeGreaterThan(0);
  const before = [...acknowledged];
  const copy = `cp -r "${join(broker.folder, 'data')}" "${folder}/kafka"`;
  const tools = await newFolder();
  await slowRedisCopies(tools);
  const requests = await recordedRequests(tools);
  const path = { PATH: `${tools}:${process.env.PATH}` };
  try {
    const env = { ...process.env, ...environment, ...path, KAFKA_COPY: copy };
    await run(script('backup-cluster.sh'), [folder], { env });
  } finally {
    isSending = false;
    await sending;
  }
  await nodes.dispose();
  await expectOnlyOwnerReads(folder);

  // Another site: the brokers' disks and the file of Redis are put back, and the database is another one.
  await Promise.all([broker.kill(), redis.kill()]);
  await rm(join(broker.folder, 'data'), { recursive: true });
  await cp(join(folder, 'kafka'), join(broker.folder, 'data'), { recursive: true });
  const [port, redisPort] = (await freePorts(2)) as [number, number];
  const restored = { ...environment, FENCELINE_CLICKHOUSE_DATABASE: `${cluster.name}_restored` };
  const beforeRehearsal = outside.requests.length;
  const { FENCELINE_CLICKHOUSE_URL } = cluster.environment;
  const { hostname: host, port: clickHousePort } = new URL(FENCELINE_CLICKHOUSE_URL!);
  const network = await startProxy({ host, port: Number(clickHousePort) });
  onTestFinished(() => network.stop());
  network.cutOff();
  const rehearse = async () =>
    run(script('rehearse-restore.sh'), [folder], {
      env: {
        ...process.env,
        ...restored,
        ...path,
        FENCELINE: await programWithNodesOn(`http://${network.host}:${network.port}`, tools),
        FENCELINE_PORT: `${port}`,
        FENCELINE_TRACING_ENDPOINT: outside.url('/traces'),
      },
      maxBuffer: 2 ** 24,
    });
  // The guide said to start Redis on its copy. Redis with an append-only file was empty, and the rehearsal succeeded.
  await rm(join(redis.folder, 'appendonlydir'), { recursive: true });
  await cp(join(folder, 'redis.rdb'), join(redis.folder, 'dump.rdb'));
  await Promise.all([broker.restart(), redis.restart()]);
  await expect(rehearse()).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No position is stored, and the log has records'),
  });
  await redis.kill();
  await run('bash', ['-ec', restoreOfRedis({ copy: folder, folder: redis.folder, port: redisPort })]);
  await redis.restart();
  await endSyncLeases(redis);
  const rehearsal = rehearse();
  // On a slow machine the node was ready before it had created the tables, and the rehearsal failed.
  await Promise.race([rehearsal, until(async () => (await requests()).includes('SELECT%20count()'))]);
  network.mend();
  const { stdout } = await rehearsal;
  expect(stdout).toContain('0 do not match the log');
  expect(stdout).toContain('has evaluated every location of its log');
  expect(outside.requests.slice(beforeRehearsal).map(({ path }) => path)).toEqual([]);
  expect(await requests()).not.toContain(cluster.environment.FENCELINE_CLICKHOUSE_PASSWORD);

  const sources = await clusterSources(restored);
  onTestFinished(() => sources.close());
  const outcomes = (await readTopic(sources, topics.outcomes)).map(({ value }) => codecs.outcome.decode(value));
  const applied = outcomes.filter(({ result }) => result === 'applied').map(({ location }) => location);
  const byLocation = new Map(applied.map(({ id, deviceId }) => [id, deviceId]));
  expect(before.filter((deviceId) => ![...byLocation.values()].includes(deviceId))).toEqual([]);
  const events = (await readTopic(sources, topics.events)).map(({ value }) => codecs.event.decode(value));
  const entered = new Map(events.map(({ id, user }) => [id, user?.deviceId]));
  for (const deviceId of before)
    expect(
      [...entered.values()].filter((each) => each === deviceId),
      deviceId,
    ).toHaveLength(1);
  // The rehearsal ends when all is evaluated. The rows that its node had not written yet, the next node writes.
  const next = launchServer({
    program,
    dataFolder: join(folder, 'next'),
    environment: { ...restored, FENCELINE_ROLES: 'analytics' },
  });
  onTestFinished(async () => void (await next.kill()));
  await next.ready;
  const missingDevices = async (table: string, column: string): Promise<string[]> => {
    const rows = await sources.analytics.query<{ device: string }>(`SELECT ${column} AS device FROM ${table}`, {});
    const stored = new Set(rows.map(({ device }) => device));
    return before.filter((deviceId) => !stored.has(deviceId));
  };
  const missing = async () => [
    ...(await missingDevices('locations', 'device_id')),
    ...(await missingDevices('events', 'device_id')),
  ];
  await expect.poll(missing).toEqual([]);
}, 600_000);

// The guide did not name nodes.conf. Redis makes no cluster of servers that have keys.
it('the masters of a Redis Cluster are restored with their slots', async () => {
  const redis = await startRedisCluster();
  onTestFinished(() => redis.stop());
  const first = redis.nodes[0]!;
  const inCluster = async (...words: string[]): Promise<string> => {
    const { stdout } = await run('redis-cli', ['-c', '-h', first.host, '-p', `${first.port}`, ...words]);
    return stdout.trim();
  };
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
  for (const key of keys) await inCluster('SET', key, key);
  const copies = await Promise.all(
    redis.nodes.map(async ({ host, port, folder }) => {
      const copy = await newFolder();
      await run('redis-cli', ['-h', host, '-p', `${port}`, '--rdb', join(copy, 'redis.rdb')]);
      await cp(join(folder!, 'nodes.conf'), join(copy, 'nodes.conf'));
      return { copy, folder: folder! };
    }),
  );
  await redis.kill();
  const [port] = (await freePorts(1)) as [number];
  for (const { copy, folder } of copies) {
    await rm(join(folder, 'nodes.conf'));
    await run('bash', ['-ec', restoreOfRedis({ copy, folder, port })]);
    await cp(join(copy, 'nodes.conf'), join(folder, 'nodes.conf'));
  }
  await redis.restart();
  // Each master answers once it has met the others.
  const values = () => Promise.all(keys.map((key) => inCluster('GET', key)));
  await expect.poll(values, { interval: 500 }).toEqual(keys);
});

it('a folder that has a file is refused, and nothing is copied', async () => {
  const folder = await newFolder();
  await writeFile(join(folder, 'redis.rdb'), 'an earlier backup');
  const env = { ...process.env, ...newTestCluster()!.environment, KAFKA_COPY: 'true' };
  const refused = { code: 1, stderr: `${folder} is not empty\n` };
  await expect(run(script('backup-cluster.sh'), [folder], { env })).rejects.toMatchObject(refused);
  expect(await readdir(folder)).toEqual(['redis.rdb']);
});

it('a rehearsal that fails says on standard error which step failed and what it printed', async () => {
  const [port] = (await freePorts(1)) as [number];
  const env = {
    ...process.env,
    ...newTestCluster()!.environment,
    FENCELINE_REDIS_NODES: `127.0.0.1:${port}`,
    FENCELINE: `${process.execPath} ${program}`,
  };
  const failed = run(script('rehearse-restore.sh'), [await newFolder()], { env });
  await expect(failed).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/FAILURE {2}Redis: no server can be reached[\s\S]*doctor" ended with status 1\n$/),
  });
});

/** Returns the commands of the guide for these folders and this port. */
function restoreOfRedis({ copy, folder, port }: { copy: string; folder: string; port: number }): string {
  const guide = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
  const [, commands = ''] = /### Restore Redis\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(guide) ?? [];
  return commands
    .replaceAll('/backups/monday', copy)
    .replaceAll('/var/lib/redis', folder)
    .replaceAll('6390', `${port}`);
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fenceline-cluster-backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Lays a slow redis-cli into the folder. The cluster goes on during the copy, and the analytics sink stores rows and
 * positions. So stores that are copied in the wrong order do not fit together.
 */
async function slowRedisCopies(folder: string): Promise<void> {
  const { stdout } = await run('which', ['redis-cli']);
  const lines = ['#!/bin/sh', 'sleep 3', `${stdout.trim()} "$@"`, 'sleep 3', ''];
  await writeFile(join(folder, 'redis-cli'), lines.join('\n'), { mode: 0o755 });
}

/** Lays a curl into the folder that records its arguments. Returns a function that reads them. */
async function recordedRequests(folder: string): Promise<() => Promise<string>> {
  const { stdout } = await run('which', ['curl']);
  const record = join(folder, 'requests');
  const lines = ['#!/bin/sh', `echo "$@" >> "${record}"`, `exec ${stdout.trim()} "$@"`, ''];
  await writeFile(join(folder, 'curl'), lines.join('\n'), { mode: 0o755 });
  return () => readFile(record, 'utf8');
}

/** Returns a program whose nodes find ClickHouse at `url`. Its other commands find it where the environment says. */
async function programWithNodesOn(url: string, folder: string): Promise<string> {
  const file = join(folder, 'fenceline');
  const lines = [
    '#!/bin/sh',
    `[ "$1" != serve ] || export FENCELINE_CLICKHOUSE_URL=${url}`,
    `exec "${process.execPath}" "${program}" "$@"`,
    '',
  ];
  await writeFile(file, lines.join('\n'), { mode: 0o755 });
  return file;
}

async function expectOnlyOwnerReads(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  const modes = names.map(async (name) => [name, (await stat(join(folder, name))).mode & 0o077]);
  expect((await Promise.all(modes)).filter(([, mode]) => mode !== 0)).toEqual([]);
}

/** A rehearsal usually begins when the leases of the backup have expired, so that interrupted runs are due. */
async function endSyncLeases(redis: Address): Promise<void> {
  await withRedis(redis, async (client) => {
    for (const key of await client.keys('*sync/*')) await client.del(key);
  });
}

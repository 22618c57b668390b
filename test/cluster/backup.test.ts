/**
 * A cluster is backed up by deploy/backup-cluster.sh while locations arrive, loses all its services, and is restored:
 * deploy/rehearse-restore.sh finds the copies to fit together, every location that was acknowledged before the
 * backup is evaluated once, and the tables have its row and its event.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { topics } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { launchServer } from '../../server/server-process.js';
import { startKafka } from '../../testing/services/kafka.js';
import { freePorts } from '../../testing/services/ports.js';
import { startRedis } from '../../testing/services/redis.js';
import { readTopic } from '../ledger/ledger.js';
import { clusterSources } from '../ledger/sources.js';
import { newTestCluster } from '../support/cluster.js';
import { ClusterNodes } from '../support/cluster-nodes.js';
import { circle, standing } from '../support/places.js';
import { program } from '../support/program.js';
import { patientReplies } from '../support/server.js';
import { oneNode } from './faults/run.js';

const script = (name: string): string => fileURLToPath(new URL(`../../deploy/${name}`, import.meta.url));
const run = promisify(execFile);

it('a backup under load is restored, and nothing acknowledged before it is missing or doubled', async () => {
  const [kafka, redis] = await Promise.all([startKafka(), startRedis()]);
  onTestFinished(async () => void (await Promise.all([kafka.stop(), redis.stop()])));
  const [broker] = kafka.nodes;
  if (broker?.folder === undefined || redis.folder === undefined) return expect.fail('run the tests with .ci/services');
  const cluster = newTestCluster({ kafka, redis })!;
  const environment = { ...cluster.environment, ...patientReplies, FENCELINE_LOCATIONS_PARTITIONS: '4' };
  const folder = await mkdtemp(join(tmpdir(), 'fenceline-cluster-backup-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));

  const nodes = await ClusterNodes.start(environment, oneNode);
  onTestFinished(() => nodes.dispose());
  await nodes.as('test_secret').putGeofence('gate', circle(0, 0, 100));
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
  await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(20);
  const before = [...acknowledged];
  const copy = `cp -r "${join(broker.folder, 'data')}" "${folder}/kafka"`;
  try {
    const env = { ...process.env, ...environment, PATH: await slowRedisCopies(), KAFKA_COPY: copy };
    await run(script('backup-cluster.sh'), [folder], { env });
  } finally {
    isSending = false;
    await sending;
  }
  await nodes.dispose();

  // Another site: the brokers' disks and the file of Redis are put back, and the database is another one.
  await Promise.all([broker.kill(), redis.kill()]);
  await rm(join(broker.folder, 'data'), { recursive: true });
  await cp(join(folder, 'kafka'), join(broker.folder, 'data'), { recursive: true });
  await cp(join(folder, 'redis.rdb'), join(redis.folder, 'dump.rdb'));
  await Promise.all([broker.restart(), redis.restart()]);
  const [port] = (await freePorts(1)) as [number];
  const restored = { ...environment, FENCELINE_CLICKHOUSE_DATABASE: `${cluster.name}_restored` };
  const { stdout } = await run(script('rehearse-restore.sh'), [folder], {
    env: { ...process.env, ...restored, FENCELINE: `${process.execPath} ${program}`, FENCELINE_PORT: `${port}` },
    maxBuffer: 2 ** 24,
  });
  expect(stdout).toContain('0 do not match the log');
  expect(stdout).toContain('has evaluated every location of its log');

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
  await expect.poll(missing, { timeout: 60_000 }).toEqual([]);
}, 600_000);

/**
 * Makes a search path with a slow redis-cli. The cluster goes on during the copy, and the analytics sink stores rows
 * and positions. So stores that are copied in the wrong order do not fit together.
 */
async function slowRedisCopies(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fenceline-slow-copies-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { stdout } = await run('which', ['redis-cli']);
  const lines = ['#!/bin/sh', 'sleep 3', `${stdout.trim()} "$@"`, 'sleep 3', ''];
  await writeFile(join(folder, 'redis-cli'), lines.join('\n'), { mode: 0o755 });
  return `${folder}:${process.env.PATH}`;
}

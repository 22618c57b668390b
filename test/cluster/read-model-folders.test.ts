/**
 * A node of a cluster starts on a folder whose read model it can't use: it makes the read model again, and says why.
 *
 * Incidents: a node that came to another cluster with its folder accepted the keys of the former one, and refused those
 * of the new one. A node whose read model was overwritten ended by a signal at every start.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { connectKafka, type KafkaConnection } from '../../backends/cluster/kafka/connection/connection.js';
import { topics } from '../../pipeline/ports.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import { loadConfiguration } from '../../server/config/load.js';
import { type Keys, launchServer } from '../../server/server-process.js';
import { placeBasemap } from '../support/basemap.js';
import { Client } from '../support/client.js';
import { newTestCluster, type TestCluster } from '../support/cluster.js';
import { circle } from '../support/places.js';
import { program } from '../support/program.js';

async function newFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-read-model-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  await placeBasemap(folder);
  return folder;
}

interface Running {
  /** Of a first start. */
  readonly keys: Keys | undefined;
  as(key: string): Client;
  log(): string;
}

/** Starts a node on the folder, lets it work, and stops it. */
async function onNode<T>(
  dataFolder: string,
  { environment }: TestCluster,
  work: (node: Running) => Promise<T>,
): Promise<T> {
  const settings = { FENCELINE_ROLES: 'ingest,api', FENCELINE_LOG_LEVEL: 'warn' };
  const server = launchServer({ program, dataFolder, environment: { ...environment, ...settings } });
  try {
    const { address, keys } = await server.ready;
    const as = (key: string) => new Client(() => address, key);
    return await work({ keys, as, log: () => server.log().join('\n') });
  } finally {
    await server.stop();
  }
}

async function connected({ environment }: TestCluster): Promise<KafkaConnection> {
  const loaded = loadConfiguration({ environment, flags: {} });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const connection = await connectKafka(clusterOptionsOrRefuse(loaded.configuration).kafka, () => {});
  onTestFinished(() => connection.close());
  return connection;
}

async function endOfChanges({ admin, topicName }: KafkaConnection): Promise<number> {
  const [partition] = await admin.fetchTopicOffsets(topicName(topics.changes));
  return Number(partition!.high);
}

/**
 * Ends topic `changes` with an offset without a record, as compaction leaves many: here with the marker of a
 * transaction. Its records are no changes.
 */
async function endWithoutRecord({ kafka, topicName }: KafkaConnection): Promise<void> {
  const topic = topicName(topics.changes);
  const producer = kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: Array.from({ length: 20 }, () => ({ key: 'none', value: 'none' })) });
  await transaction.commit();
  await producer.disconnect();
}

it('a read model of another cluster or with damage is made again', async () => {
  const [own, former] = [newTestCluster()!, newTestCluster()!];
  const ownFolder = await newFolder();
  const ownKeys = await onNode(ownFolder, own, async ({ keys }) => keys!);
  const changes = await connected(own);
  await endWithoutRecord(changes);
  const end = await endOfChanges(changes);

  const folder = await newFolder();
  const formerKeys = await onNode(folder, former, async ({ keys, as }) => {
    const formerChanges = await connected(former);
    for (let index = 0; (await endOfChanges(formerChanges)) < end; index++)
      await as(keys!.test_secret).putGeofence(`fence-${index}`, circle(0, 0, 100));
    expect(await endOfChanges(formerChanges)).toBe(end);
    return keys!;
  });

  async function expectOwn(node: Running, reason: string): Promise<void> {
    const statusFor = async (key: string) => (await node.as(key).get('/v1/settings')).status;
    expect([await statusFor(ownKeys.test_secret), await statusFor(formerKeys.test_secret)]).toEqual([200, 401]);
    expect(node.log()).toContain(reason);
  }
  await onNode(folder, own, (node) => expectOwn(node, 'it is of another cluster'));

  const file = join(folder, 'read-model', 'data.mdb');
  writeFileSync(file, Buffer.alloc(readFileSync(file).length, 7));
  await onNode(folder, own, (node) => expectOwn(node, 'it does not begin with two headers of LMDB'));
  await onNode(folder, own, async ({ log }) => expect(log()).not.toContain('read model'));
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const nobody = 65_534;

// LMDB ended the process by SIGSEGV.
it.skipIf(!isRoot)('a read model of another user ends the start in a line that names it', async () => {
  const cluster = newTestCluster()!;
  const folder = await newFolder();
  await onNode(folder, cluster, async () => {});
  const path = join(folder, 'read-model', 'lock.mdb');
  chownSync(path, nobody, nobody);
  chmodSync(path, 0o700);
  const withoutPrivileges = ['bounding-set', 'inh-caps'].map((set) => `--${set}=-dac_override,-dac_read_search`);
  const words = [...withoutPrivileges, process.execPath, program, 'serve', '--port', '0', '--data', folder];
  const child = spawn('setpriv', words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...cluster.environment },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [written, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit')]);
  expect([code, written.split('\n').find((line) => line.startsWith('fenceline:'))]).toEqual([
    1,
    expect.stringContaining(`the data folder ${folder} can't be used: ${path}: it belongs to another user`),
  ]);
});

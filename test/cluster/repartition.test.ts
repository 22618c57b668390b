/**
 * More partitions for a cluster: when they are refused, that a device keeps its state, and that the next run completes
 * one that was killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { partitionOfKey } from '../../backends/cluster/kafka/produce/partitioner.js';
import { mastersOf } from '../../backends/cluster/redis/client.js';
import { connectRedis, type RedisConnection } from '../../backends/cluster/redis/connection.js';
import { countInboxes, createRedisInbox } from '../../backends/cluster/redis/replies.js';
import { createRedisStates } from '../../backends/cluster/redis/states.js';
import { moveStates } from '../../backends/cluster/repartition/states.js';
import { type Keys, launchServer } from '../../server/server-process.js';
import { startProxy } from '../../testing/services/proxy.js';
import { services } from '../../testing/services/services.js';
import { until } from '../../testing/until.js';
import { Client, ok } from '../support/client.js';
import { newTestCluster, type TestCluster } from '../support/cluster.js';
import { ClusterNodes, type NodePlan } from '../support/cluster-nodes.js';
import { circle, eventTypesOf, standing } from '../support/places.js';
import { program } from '../support/program.js';
import { patientReplies } from '../support/server.js';
import { freshRedisOptions } from './redis/fresh-redis.js';

type Environment = Readonly<Record<string, string>>;

const everything: readonly NodePlan[] = [
  { name: 'all', roles: ['ingest', 'pipeline', 'api', 'webhooks', 'analytics'] },
];
const takersIn: readonly NodePlan[] = [{ name: 'ingest', roles: ['ingest'] }];
const finishers: readonly NodePlan[] = [{ name: 'finisher', roles: ['pipeline', 'webhooks', 'analytics'] }];

const devices = Array.from({ length: 24 }, (_, i) => `device-${i}`);
/** More states than one batch of a move. */
const idleStates = 12_000;
const idleMs = 24 * 60 * 60 * 1_000;

const withPartitions = ({ environment }: TestCluster, partitions: number): Environment => ({
  ...environment,
  ...patientReplies,
  FENCELINE_LOCATIONS_PARTITIONS: `${partitions}`,
});

async function withNodes(
  environment: Environment,
  plan: readonly NodePlan[],
  use: (nodes: ClusterNodes) => Promise<void>,
) {
  const nodes = await ClusterNodes.start(environment, plan);
  try {
    await use(nodes);
    await nodes.stop();
  } finally {
    await nodes.dispose();
  }
}

const clientOf = (nodes: ClusterNodes, keys: Keys): Client => new Client(() => nodes.address(), keys.test_secret);

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

/** Runs `repartition`, and calls `onText` with the whole output so far. */
function repartition(
  environment: Environment,
  to: number,
  onText: (text: string, child: ChildProcess) => void = () => {},
) {
  const child = spawn(process.execPath, [program, 'repartition', '--partitions', `${to}`], {
    env: { ...process.env, ...environment },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      text += data;
      onText(text, child);
    });
  }
  return new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, text })));
}

/** Kills the command when it has moved the first batch of states and asks for the second. */
async function killedMidway(environment: Environment, to: number): Promise<Ended> {
  const network = await startProxy(services()!.redis);
  onTestFinished(() => network.stop());
  let scans = 0;
  network.holdsFrom = (piece) => {
    if (/\$4\r\nscan\r\n/i.test(piece.toString('latin1'))) scans += 1;
    return scans > 1;
  };
  let running: ChildProcess | undefined;
  const throughNetwork = { ...environment, FENCELINE_REDIS_NODES: `${network.host}:${network.port}` };
  const ended = repartition(throughNetwork, to, (_, child) => {
    running = child;
  });
  await until(() => network.heldPieces > 0);
  running!.kill('SIGKILL');
  return ended;
}

/** Returns the reason why a node does not start. */
async function refusalOf(environment: Environment): Promise<string> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'fenceline-repartition-'));
  const node = launchServer({ program, dataFolder, environment });
  await node.exited;
  await rm(dataFolder, { recursive: true });
  return node.log().join('\n');
}

interface KeptState {
  readonly partition: number;
  readonly state: string;
  readonly expiryMs: number;
}

/** Returns states by device. Throws if a device has two. */
async function statesOf({ client, options }: RedisConnection): Promise<Map<string, KeptState>> {
  const states = new Map<string, KeptState>();
  for (const master of mastersOf(client)) {
    for await (const keys of master.scanStream({ match: `${options.prefix}{state.*}.device:*`, count: 1_000 })) {
      await Promise.all(
        (keys as string[]).map(async (key) => {
          const [, partition, device] = /\{state\.(\d+)\}\.device:(.*)$/.exec(key)!;
          const [state, expiryMs] = await Promise.all([client.getBuffer(key), client.pttl(key)]);
          if (states.has(device!)) throw new Error(`${device} has two states`);
          states.set(device!, { partition: Number(partition), state: state!.toString('hex'), expiryMs });
        }),
      );
    }
  }
  return states;
}

/** Adds states of devices that send nothing. Every other one never expires. */
async function addIdleStates({ client, options }: RedisConnection, count: number, partitions: number): Promise<void> {
  for (let start = 0; start < count; start += 1_000) {
    const numbers = Array.from({ length: Math.min(1_000, count - start) }, (_, i) => start + i);
    await Promise.all(
      numbers.map((i) => {
        const device = `idle-${i}`;
        const key = `${options.prefix}{state.${partitionOfKey(device, partitions)}}.device:${device}`;
        return i % 2 === 0 ? client.set(key, `state ${i}`) : client.set(key, `state ${i}`, 'PX', idleMs);
      }),
    );
  }
}

const contents = (states: ReadonlyMap<string, KeptState>) =>
  [...states].map(([device, { state, expiryMs }]) => [device, state, expiryMs > 0]).sort();

const misplaced = (states: ReadonlyMap<string, KeptState>, partitions: number) =>
  [...states].filter(([device, { partition }]) => partition !== partitionOfKey(device, partitions));

async function connect(options: Parameters<typeof connectRedis>[0]): Promise<RedisConnection> {
  const redis = await connectRedis(options, () => {});
  onTestFinished(() => redis.close());
  return redis;
}

test('from 4 to 8 partitions, killed midway: every device keeps its state', {
  timeout: 600_000,
}, async () => {
  const cluster = newTestCluster()!;
  const four = withPartitions(cluster, 4);
  const eight = withPartitions(cluster, 8);
  const redis = await connect(freshRedisOptions([services()!.redis], { prefix: `${cluster.name}:` }));
  let keys!: Keys;

  await withNodes(four, everything, async (nodes) => {
    ({ keys } = nodes);
    const client = clientOf(nodes, keys);
    await client.putGeofence('yard', circle(0, 0, 100));
    const answers = await Promise.all(
      devices.map((deviceId) => client.track({ deviceId, userId: deviceId, ...standing(0, 0) })),
    );
    expect(answers.map(({ events }) => eventTypesOf(events))).toEqual(devices.map(() => ['user.entered_geofence']));

    const { code, text } = await repartition(four, 8);
    expect(code).toBe(1);
    expect(text).toContain('still running: 1 process with the role ingest');
    expect(text).toContain(`still running: group ${cluster.name}.location-stage.locations has 1 member`);
  });

  await withNodes(four, takersIn, async (nodes) => {
    const lines = devices.map((deviceId) => ({ deviceId, userId: deviceId, accuracy: 5, ...standing(10, 0) }));
    ok(await clientOf(nodes, keys).bulk(lines));
  });
  const early = await repartition(four, 8);
  expect(early.code).toBe(1);
  expect(early.text).toContain(
    `still waiting: ${devices.length} records of ${cluster.name}.locations for location-stage`,
  );
  await withNodes(four, finishers, async () => {
    await until(async () => !(await repartition(four, 8)).text.includes('still waiting'));
  });

  await addIdleStates(redis, idleStates, 4);
  const before = await statesOf(redis);
  expect(before.size).toBe(devices.length + idleStates);

  const killed = await killedMidway(four, 8);
  expect(killed.code).toBe(null);
  expect(killed.text).toContain('have 8 partitions');
  expect((await repartition(four, 16)).text).toContain('a change from 4 to 8 partitions is in progress');
  for (const environment of [four, eight]) {
    expect(await refusalOf(environment)).toContain('a repartition from 4 to 8 partitions is in progress');
  }
  const left = misplaced(await statesOf(redis), 8).length;
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(misplaced(before, 8).length);

  const finished = await repartition(four, 8);
  expect(finished).toMatchObject({ code: 0, text: expect.stringContaining('done: start the nodes') });
  const after = await statesOf(redis);
  expect(misplaced(after, 8)).toEqual([]);
  expect(contents(after)).toEqual(contents(before));
  for (const [device, { expiryMs }] of after) expect(expiryMs).toBeLessThanOrEqual(before.get(device)!.expiryMs);

  expect(await refusalOf(four)).toContain('has 8 partitions, not 4');
  expect((await repartition(four, 8)).text).toContain('there are 8 partitions already');
  expect((await repartition(four, 4)).text).toContain('Kafka can only add');

  await withNodes(eight, everything, async (nodes) => {
    const client = clientOf(nodes, keys);
    const answers = await Promise.all(
      devices.map((deviceId) => client.track({ deviceId, userId: deviceId, ...standing(500, 0) })),
    );
    expect(answers.map(({ events }) => eventTypesOf(events))).toEqual(devices.map(() => ['user.exited_geofence']));
    const listed = async (type: string): Promise<number> =>
      ok(await client.get(`/v1/events?type=${type}&limit=1000`)).events.length;
    await until(async () => (await listed('user.exited_geofence')) === devices.length);
    expect(await listed('user.entered_geofence')).toBe(devices.length);
  });
});

test('moves states between the nodes of a Redis Cluster', async () => {
  const options = freshRedisOptions(services()!.redisCluster.nodes);
  const redis = await connect(options);
  await addIdleStates(redis, 2_000, 4);
  const before = await statesOf(redis);
  const misplacedBefore = misplaced(before, 32).length;
  expect(misplacedBefore).toBeGreaterThan(0);
  expect(await moveStates(redis, 32)).toBe(misplacedBefore);
  const after = await statesOf(redis);
  expect(misplaced(after, 32)).toEqual([]);
  expect(contents(after)).toEqual(contents(before));
});

test('an existing state is newer than the one to be moved', async () => {
  const redis = await connect(freshRedisOptions([services()!.redis]));
  await addIdleStates(redis, 1, 4);
  const [old, now] = [partitionOfKey('idle-0', 4), partitionOfKey('idle-0', 1_024)];
  expect(now).not.toBe(old);
  await redis.client.set(`${redis.options.prefix}{state.${now}}.device:idle-0`, 'newer');
  await moveStates(redis, 1_024);
  const states = createRedisStates(redis);
  expect(await states.load(now, ['idle-0'])).toEqual([Buffer.from('newer')]);
  expect(await states.load(old, ['idle-0'])).toEqual([undefined]);
});

test.each([
  ['Redis', () => [services()!.redis]],
  ['a Redis Cluster', () => services()!.redisCluster.nodes],
])('inboxes of other processes are counted on %s until they close', async (_, nodesOf) => {
  const options = freshRedisOptions(nodesOf());
  const looking = await connect(options);
  const other = await connectRedis(options, () => {});
  await createRedisInbox(other);
  expect(await countInboxes(looking)).toBe(1);
  await other.close();
  await until(async () => (await countInboxes(looking)) === 0);
});

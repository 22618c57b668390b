/**
 * Kafka returns without its newest records while Redis remembers that they were applied. Causes are a power loss that
 * took the end of the log, an unclean election, or the restored disk of an older day.
 *
 * Regression: acknowledged locations were silently skipped until the log had grown past the stored positions. After the
 * loss of a part of topic `changes`, nodes had different configurations.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { topics } from '../../../pipeline/ports.js';
import { codecs } from '../../../schemas/codecs.js';
import { type KafkaServer, startKafka } from '../../../testing/services/kafka.js';
import { rememberData } from '../../../testing/services/older-data.js';
import { until } from '../../../testing/until.js';
import { readTopic } from '../../ledger/ledger.js';
import { clusterSources } from '../../ledger/sources.js';
import { Client, ok } from '../../support/client.js';
import { newTestCluster } from '../../support/cluster.js';
import { ClusterNodes, type NodePlan } from '../../support/cluster-nodes.js';
import { circle, standing } from '../../support/places.js';
import { runCommand } from '../../support/program.js';

const timeout = 600_000;
const patience = { timeoutMs: 240_000 };
const plan: readonly NodePlan[] = [
  { name: 'first', roles: ['ingest', 'api', 'pipeline', 'webhooks', 'analytics'] },
  { name: 'second', roles: ['ingest', 'api'] },
];

/** A cluster on a separate Kafka, whose data can be restored to an earlier state. */
interface Scene {
  readonly kafka: KafkaServer;
  readonly environment: Readonly<Record<string, string>>;
  readonly nodes: ClusterNodes;
  readonly secret: Client;
}

const started: { kafka?: KafkaServer; nodes?: ClusterNodes } = {};
let scene: Scene;

/** The tests share it: the first loses locations only, and the second configuration only. */
beforeAll(async () => {
  const kafka = await startKafka();
  started.kafka = kafka;
  const cluster = newTestCluster({ kafka })!;
  const environment = { ...cluster.environment, FENCELINE_LOCATIONS_PARTITIONS: '2' };
  const nodes = await ClusterNodes.start(environment, plan);
  started.nodes = nodes;
  scene = { kafka, environment, nodes, secret: nodes.as('test_secret') };
});
afterAll(async () => {
  await started.nodes?.dispose();
  await started.kafka?.stop();
});

/** Sends a location per device. Returns the devices when all are acknowledged. */
async function send(
  { nodes, secret }: Pick<Scene, 'nodes' | 'secret'>,
  name: string,
  count: number,
): Promise<string[]> {
  const devices = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const lines = devices.map((deviceId) => ({ deviceId, ...standing(0, 0), accuracy: 5, updatedAtMs: Date.now() }));
  await until(
    async () => {
      const answer = await secret.bulk(lines).catch(() => undefined);
      return answer?.status === 200 && answer.body.accepted === count;
    },
    { ...patience, describe: () => nodes.log() },
  );
  return devices;
}

/** Returns how often each device's location was applied, by the outcomes in the log. */
async function applied({ environment }: Scene): Promise<Map<string, number>> {
  const sources = await clusterSources(environment);
  try {
    const counts = new Map<string, number>();
    for (const { value } of await readTopic(sources, topics.outcomes)) {
      const { location, result } = codecs.outcome.decode(value);
      if (result === 'applied') counts.set(location.deviceId, (counts.get(location.deviceId) ?? 0) + 1);
    }
    return counts;
  } finally {
    await sources.close();
  }
}

/** Runs the command line as an operator does beside the nodes. */
const fenceline = (environment: Readonly<Record<string, string>>, ...args: string[]) =>
  runCommand(args, { ...process.env, ...environment });

it('locations after a lost tail of the log are not skipped silently', { timeout }, async () => {
  const { kafka, nodes, environment } = scene;
  const evaluated = async (count: number) =>
    until(async () => (await nodes.metric('fenceline_locations_evaluated_total')) >= count, {
      ...patience,
      describe: () => nodes.log(),
    });
  await send(scene, 'kept', 400);
  await evaluated(400);
  const putBack = await rememberData(kafka, 'data');
  await send(scene, 'lost', 400);
  await evaluated(800);
  await putBack();

  const fresh = await send(scene, 'new', 1_200);
  const isTold = () => /is not the log that .* read/.test(nodes.log());
  await until(isTold, {
    ...patience,
    describe: () => 'a node says that the log is another one',
  }).catch(async (error) => {
    const counts = await applied(scene);
    const missing = fresh.filter((device) => !counts.has(device)).length;
    throw new Error(`${missing} of ${fresh.length} new locations were never evaluated, and nobody said so: ${error}`);
  });

  const dry = await fenceline(environment, 'repair', 'positions');
  console.log(dry.output);
  expect(dry.code, dry.output).toBe(1);
  expect(dry.output).toContain('--yes');

  let isFlowing = true;
  const later: string[] = [];
  const flow = (async () => {
    for (let round = 0; isFlowing; round++, await delay(100)) later.push(...(await send(scene, `later-${round}`, 10)));
  })();
  const repair = await fenceline(environment, 'repair', 'positions', '--yes');
  console.log(repair.output);
  expect(repair.code, repair.output).toBe(0);
  const laterBefore = later.length;
  await until(() => later.length >= laterBefore + 50, patience);
  isFlowing = false;
  await flow;

  const all = [...fresh, ...later];
  let counts = new Map<string, number>();
  const everyOne = async () => {
    counts = await applied(scene);
    return all.every((device) => counts.has(device));
  };
  await until(everyOne, {
    ...patience,
    describe: () => `${all.filter((device) => !counts.has(device)).length} missing\n${nodes.log()}`,
  });
  expect(all.filter((device) => counts.get(device) !== 1)).toEqual([]);
  expect((await fenceline(environment, 'repair', 'positions')).code).toBe(0);
  expect(nodes.restarts, 'processes that ended').toBe(0);
});

it('nodes agree about the configuration after topic changes has lost its tail', { timeout }, async () => {
  const { kafka, nodes } = scene;
  const [first, second] = ['first', 'second'].map(
    (name) => new Client(() => nodes.node(name).address, nodes.keys.test_secret),
  ) as [Client, Client];
  await first.putGeofence('kept', circle(0, 0, 100));
  const putBack = await rememberData(kafka, 'data');
  for (let index = 0; index < 20; index++) await first.putGeofence(`lost-${index}`, circle(0, 0, 100));
  await until(async () => (await second.get('/v1/geofences/test/lost-19')).status === 200, patience);
  await putBack();

  const put = async (client: Client, name: string) =>
    until(
      async () => {
        const answer = await client
          .put(`/v1/geofences/test/${name}`, { description: name, ...circle(0, 0, 100) })
          .catch(() => undefined);
        return answer?.status === 200;
      },
      { ...patience, describe: () => nodes.log() },
    );
  for (const [index, client] of [first, second].entries()) {
    for (let each = 0; each < 3; each++) {
      await put(client, `new-${index}-${each}`);
      ok(await client.get(`/v1/geofences/test/new-${index}-${each}`));
    }
  }
  const names = async (client: Client): Promise<string[]> =>
    ok(await client.get('/v1/geofences?limit=1000'))
      .geofences.map(({ externalId }: { externalId: string }) => externalId)
      .sort();
  const expected = ['kept', 'new-0-0', 'new-0-1', 'new-0-2', 'new-1-0', 'new-1-1', 'new-1-2'];
  for (const client of [first, second]) {
    let seen: string[] = [];
    const agrees = async () => {
      seen = await names(client);
      return JSON.stringify(seen) === JSON.stringify(expected);
    };
    await until(agrees, { ...patience, describe: () => `${seen}\n${nodes.log()}` });
  }
  expect(nodes.restarts, 'processes that ended').toBe(0);
});

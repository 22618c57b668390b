/**
 * Nodes that share nothing but the services: what is done at one is seen at all others. Configuration arrives, events
 * are streamed and track calls answered wherever the device, the reader and the evaluation are, and work by the clock
 * is done once.
 */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openStream } from '../../api/stream/testing/open-stream.js';
import { topics } from '../../pipeline/ports.js';
import { until } from '../../testing/until.js';
import { clusterSources } from '../ledger/sources.js';
import { Client, ok } from '../support/client.js';
import { newTestCluster, type TestCluster } from '../support/cluster.js';
import { ClusterNodes, type NodePlan } from '../support/cluster-nodes.js';
import { circle, eventTypesOf, standing } from '../support/places.js';
import { patientReplies } from '../support/server.js';

const plan: readonly NodePlan[] = [
  { name: 'left', roles: ['ingest', 'api'] },
  { name: 'right', roles: ['ingest', 'api'] },
  { name: 'worker-1', roles: ['pipeline', 'webhooks', 'analytics'] },
  { name: 'worker-2', roles: ['pipeline'] },
];
const expiryIntervalMs = 500;

let cluster: TestCluster;
let nodes: ClusterNodes;
let left: Client;
let right: Client;

beforeAll(async () => {
  cluster = newTestCluster()!;
  const settings = {
    FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0',
    FENCELINE_EXPIRY_INTERVAL_MS: `${expiryIntervalMs}`,
    FENCELINE_EXPIRY_RETENTION_DAYS: '0',
    ...patientReplies,
  };
  nodes = await ClusterNodes.start({ ...cluster.environment, ...settings }, plan);
  [left, right] = ['left', 'right'].map(
    (name) => new Client(() => nodes.node(name).address, nodes.keys.test_secret),
  ) as [Client, Client];
});
afterAll(() => nodes?.dispose());

it('a configuration change applies on the other node', async () => {
  for (let index = 0; index < 10; index++) {
    const path = `/v1/geofences/test/fence-${index}`;
    await left.putGeofence(`fence-${index}`, circle(5_000 * index, 0, 100));
    await until(async () => (await right.get(path)).status === 200);
    ok(await right.delete(path));
    await until(async () => (await left.get(path)).status === 404);
  }
});

it('a key that was rotated on one node is refused by the other', async () => {
  const administrator = new Client(() => nodes.node('left').address, cluster.adminApiKey);
  const made = ok(await administrator.post('/v1/projects', { name: 'Another' }));
  const key = made.project.keys.find(
    ({ environment, kind }: Record<string, string>) => environment === 'test' && kind === 'secret',
  ).key;
  const asProject = new Client(() => nodes.node('right').address, key);
  await until(async () => (await asProject.get('/v1/settings')).status === 200);
  ok(await administrator.post(`/v1/projects/${made.project._id}/keys/rotate`, { environment: 'test', kind: 'secret' }));
  await until(async () => (await asProject.get('/v1/settings')).status === 401);
});

it('a device can use any node: its events are in the responses, in order, and on streams of other nodes', async () => {
  await left.putGeofence('gate', circle(0, 50_000, 100));
  await until(async () => (await right.get('/v1/geofences/test/gate')).status === 200);
  const streams = await Promise.all(
    ['left', 'right'].map((name) => openStream(`${nodes.node(name).address}/v1/events/stream`, nodes.keys.test_secret)),
  );
  onTestFinished(() => {
    for (const stream of streams) stream.close();
  });
  const rounds = 10;
  const devices = ['ship-1', 'ship-2', 'ship-3', 'ship-4', 'ship-5', 'ship-6'];
  const startMs = Date.now() - 60_000;
  const sent = await Promise.all(
    devices.map(async (deviceId) => {
      const events: { _id: string; type: string }[] = [];
      for (let round = 0; round < rounds; round++) {
        const place = standing(0, round % 2 === 0 ? 50_000 : 51_000);
        const updatedAt = new Date(startMs + round * 1_000).toISOString();
        events.push(...(await (round % 3 === 0 ? left : right).track({ deviceId, ...place, updatedAt })).events);
      }
      return events;
    }),
  );
  const inAndOut = Array.from({ length: rounds }, (_, round) =>
    round % 2 === 0 ? 'user.entered_geofence' : 'user.exited_geofence',
  );
  for (const events of sent) expect(eventTypesOf(events)).toEqual(inAndOut);
  const ids = sent.flat().map(({ _id }) => _id);
  for (const stream of streams) {
    await until(() => stream.messages().length >= ids.length);
    const streamed = stream.messages().map(({ data }) => JSON.parse(data)._id);
    expect(streamed.sort()).toEqual([...ids].sort());
  }
});

it('an expired geofence is deleted once, by any node', async () => {
  /** Resolves when it is gone from both nodes. */
  async function expired(name: string): Promise<string> {
    const deleteAfter = new Date(Date.now() + 1_000).toISOString();
    const { _id } = await left.putGeofence(name, { ...circle(0, 80_000, 100), deleteAfter });
    for (const node of [left, right]) await until(async () => (await node.get(`/v1/geofences/${_id}`)).status === 404);
    return _id;
  }
  const _id = await expired('brief');
  // Another node that deletes the first one again would do so no later than it sweeps for these.
  for (const name of ['later', 'last']) await expired(name);
  const { log, close } = await clusterSources(cluster.environment);
  onTestFinished(close);
  const { end } = await log.bounds(topics.changes, 0);
  const changes = await log.read(topics.changes, 0, 0, end);
  expect(changes.filter(({ key, value }) => key === `geofence/${_id}` && value === null)).toHaveLength(1);
});

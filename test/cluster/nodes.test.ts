/**
 * Nodes that share only the services: an action at one node is visible at all others. Configuration arrives, events are
 * streamed, and track calls are answered, on whichever node the device, the reader and the evaluation are. Files are
 * imported, and scheduled work is done once.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openStream } from '../../api/stream/testing/open-stream.js';
import { topics } from '../../pipeline/ports.js';
import { withRedis } from '../../testing/services/clients.js';
import { services } from '../../testing/services/services.js';
import { until } from '../../testing/until.js';
import { clusterSources } from '../ledger/sources.js';
import { Client, type Json, ok } from '../support/client.js';
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

/** Returns a time of day that no test reaches. */
const halfADayFromNow = (): string => new Date(Date.now() + 12 * 60 * 60_000).toISOString().slice(11, 16);

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
    FENCELINE_SYNC_ALLOWED_NETWORKS: '127.0.0.0/8',
    FENCELINE_SYNC_TIME: halfADayFromNow(),
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

it('keys of a project that one node deleted edit nothing at the other at once, and soon read nothing', async () => {
  const administrator = new Client(() => nodes.node('left').address, cluster.adminApiKey);
  const { project } = ok(await administrator.post('/v1/projects', { name: 'Deleted' }));
  const isSecret = ({ environment, kind }: Json) => environment === 'test' && kind === 'secret';
  const asProject = new Client(() => nodes.node('right').address, project.keys.find(isSecret).key);
  const fence = { description: 'A fence', ...circle(0, 0, 100) };
  ok(await asProject.put('/v1/geofences/test/fence', fence));
  const deletion = await administrator.delete(`/v1/projects/${project._id}?name=Deleted`);
  expect(deletion.status).toBe(202);
  expect((await asProject.put('/v1/geofences/test/another', fence)).status).toBe(401);
  await until(async () => (await asProject.get('/v1/geofences/test/fence')).status === 401);
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

it('a node shows the requests to each service and its connections', async () => {
  const { address } = nodes.node('left');
  const text = await (await fetch(`${address}/metrics`)).text();
  const measured = (metric: string, labels: string): number =>
    Number(new RegExp(`^fenceline_${metric}{${labels}} (\\S+)$`, 'm').exec(text)?.[1]);
  for (const [service, operation] of [
    ['kafka', 'Produce'],
    ['redis', 'get'],
    ['clickhouse', 'query'],
  ]) {
    const request = `service="${service}",operation="${operation}"`;
    expect(measured('service_request_seconds_count', request), request).toBeGreaterThan(0);
    // Idle connections to ClickHouse are closed.
    const leastConnections = service === 'clickhouse' ? 0 : 1;
    expect(measured('service_connections', `service="${service}"`), service).toBeGreaterThanOrEqual(leastConnections);
    expect(measured('service_requests_in_flight', `service="${service}"`), service).toBeGreaterThanOrEqual(0);
  }
});

it('an expired geofence is deleted once, by any node', async () => {
  /** Resolves when the geofence is gone from both nodes. */
  async function expired(name: string): Promise<string> {
    const deleteAfter = new Date(Date.now() + 1_000).toISOString();
    const { _id } = await left.putGeofence(name, { ...circle(0, 80_000, 100), deleteAfter });
    for (const node of [left, right]) await until(async () => (await node.get(`/v1/geofences/${_id}`)).status === 404);
    return _id;
  }
  const _id = await expired('brief');
  // If another node deleted the first geofence again, it would do so at the latest in the sweep for these.
  for (const name of ['later', 'last']) await expired(name);
  const { log, close } = await clusterSources(cluster.environment);
  onTestFinished(close);
  const { end } = await log.bounds(topics.changes, 0);
  const { records: changes } = await log.read(topics.changes, 0, 0, end);
  expect(changes.filter(({ key, value }) => key === `geofence/${_id}` && value === null)).toHaveLength(1);
});

it('a file of more than a megabyte is imported at one node, and the other has its rows and its history', async () => {
  const [rows, vertices] = [60, 500];
  const ringOf = (row: number) =>
    Array.from({ length: vertices }, (_, index) => {
      const angle = (2 * Math.PI * (index % (vertices - 1))) / (vertices - 1);
      return [20 + row / 10 + 0.01 * Math.cos(angle), 30 + 0.01 * Math.sin(angle)];
    });
  const lines = Array.from(
    { length: rows },
    (_, row) => `Area ${row},polygon,area,area-${row},"${JSON.stringify([ringOf(row)])}"`,
  );
  const file = ['description,type,tag,externalId,coordinates', ...lines, 'Bad,polygon,area,bad,[]', ''].join('\n');
  expect(file.length).toBeGreaterThan(2 ** 20);
  /**
   * Imports at one node, and resolves when the other shows its end. An earlier import of the project may still be
   * ending.
   */
  async function importAt(client: Client, reader: Client) {
    const headers = { 'content-type': 'text/csv' };
    const sent = await until(async () => {
      const answer = await client.send('POST', '/v1/geofences/import?wait=0', { body: file, headers });
      return answer.status !== 409 && answer;
    });
    const path = `/v1/imports/${sent.body.import._id}`;
    await until(async () => (await reader.get(path)).body.import?.status === 'completed');
    return ok(await reader.get(path)).import;
  }
  expect(await importAt(left, right)).toMatchObject({
    rows: rows + 1,
    created: rows,
    rejected: 1,
    rejections: [{ line: rows + 2, column: 'coordinates' }],
  });
  const last = ok(await right.get(`/v1/geofences/area/area-${rows - 1}`)).geofence;
  expect(last.description).toBe(`Area ${rows - 1}`);
  expect(await importAt(right, left)).toMatchObject({ created: 0, updated: 0, unchanged: rows, rejected: 1 });
});

it('only one of two nodes runs a sync at a time, however long the sync takes', async () => {
  const requested: string[] = [];
  const held: ServerResponse[] = [];
  const answer = (response: ServerResponse) => {
    const row = `Shop,circle,synced,shop,"[10,${20 + requested.length / 100}]",100`;
    response.end(`description,type,tag,externalId,coordinates,radius\n${row}\n`);
  };
  const files = createServer(({ url = '' }, response) => {
    requested.push(url);
    if (url === '/slow.csv') held.push(response);
    else answer(response);
  });
  await new Promise<void>((listening) => files.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    files.closeAllConnections();
    files.close();
  });
  const { port } = files.address() as AddressInfo;
  const live = ['left', 'right'].map((name) => new Client(() => nodes.node(name).address, nodes.keys.live_secret));
  const save = (client: Client, name: string) =>
    client.put('/v1/sync', { protocol: 'http', urls: [`http://127.0.0.1:${port}/${name}`] }).then(ok);

  await save(left, 'slow.csv');
  await until(() => held.length > 0);
  const rounds = 3;
  for (let round = 1; round <= rounds; round++) {
    const node = live[round % 2]!;
    if (round === 1) await save(node, 'quick.csv');
    else ok(await node.post('/v1/sync/run', {}));
    const isDone = async () => {
      const { lastRun } = ok(await node.get('/v1/sync')).sync;
      return lastRun?.result === 'succeeded' && requested.filter((url) => url === '/quick.csv').length >= round;
    };
    await until(isDone);
  }
  for (const response of held) answer(response);
  for (const node of [left, right])
    await until(async () => ok(await node.get('/v1/sync')).sync.lastRun?.result === 'succeeded');
  expect(requested.sort()).toEqual([...Array.from({ length: rounds }, () => '/quick.csv'), '/slow.csv']);
});

it('the sync of a node that was killed is repeated by one node, once its lock has ended', async () => {
  let [requests, mayAnswer] = [0, false];
  const files = createServer((_, response) => {
    requests += 1;
    if (mayAnswer)
      response.end('description,type,tag,externalId,coordinates,radius\nShop,circle,late,1,"[10,20]",100\n');
  });
  await new Promise<void>((listening) => files.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    files.closeAllConnections();
    files.close();
  });
  const { port } = files.address() as AddressInfo;
  // So that it is the other one that runs the sync.
  await nodes.node('left').pause();
  ok(await right.put('/v1/sync', { protocol: 'http', urls: [`http://127.0.0.1:${port}/a.csv`] }));
  await until(() => requests > 0);
  nodes.node('left').resume();
  await nodes.node('right').kill();
  mayAnswer = true;
  const lastRun = async () => ok(await left.get('/v1/sync')).sync.lastRun;
  // The node that was paused may still have to read that the run began.
  await until(async () => (await lastRun()).result === 'running');
  await withRedis(services()!.redis, async (client) => {
    const locks = await client.keys(`${cluster.name}:value.sync/*`);
    expect(locks).toHaveLength(1);
    // The minute of its life passes.
    await client.pexpire(locks[0]!, 1);
  });
  await until(async () => (await lastRun()).result !== 'running');
  expect(await lastRun()).toMatchObject({ result: 'succeeded', files: [{ result: 'imported' }] });
  expect(requests).toBe(2);
  await nodes.working();
});

/** A node that takes requests stays while services are away, and says so or waits. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { batchRecords } from '../../../ingest/bulk/upload.js';
import type { Role } from '../../../server/config/schema.js';
import { launchServer } from '../../../server/server-process.js';
import { startClickHouse } from '../../../testing/services/clickhouse/clickhouse.js';
import { startKafka } from '../../../testing/services/kafka.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { startRegistry } from '../../../testing/services/registry.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { type Json, ok } from '../../support/client.js';
import { newTestCluster, type OwnServices } from '../../support/cluster.js';
import { ClusterNodes } from '../../support/cluster-nodes.js';
import { program } from '../../support/program.js';
import { patientReplies } from '../../support/server.js';

const timeout = 600_000;
const report = { deviceId: 'device', latitude: 0, longitude: 0, accuracy: 5 };

/** Starts one node that takes requests. */
async function startFront(own: OwnServices, ...more: readonly Role[]) {
  const front = { name: 'front', roles: ['ingest', 'api', ...more] as const };
  const environment = { ...newTestCluster(own)!.environment, ...patientReplies };
  const nodes = await ClusterNodes.start(environment, [front]);
  onTestFinished(() => nodes.dispose());
  const client = nodes.as('test_secret');
  await until(async () => (await client.bulk([report])).status === 200);
  return { nodes, client };
}

/** Longer than processes that evaluate wait for Kafka. */
const kafkaAwayMs = 80_000;

// It ended after a minute, because its follower of the configuration gave up, and devices could not connect. Requests
// that came then were answered 500, because their records were given up with those that had waited for a minute.
it('answers 503 while Kafka is away for longer than a minute', { timeout }, async () => {
  const broker = await startKafka();
  onTestFinished(() => broker.stop());
  const { nodes, client } = await startFront({ kafka: broker });
  await broker.kill();
  const killedAtMs = performance.now();
  while (performance.now() - killedAtMs < kafkaAwayMs) {
    const answer = await client.bulk([report]);
    expect([answer.status, answer.body.meta.type]).toEqual([503, 'unavailable']);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    ok(await client.get('/v1/settings'));
  }
  // Nothing is sent without a connection. No request had failed, and no alert was raised.
  const [front] = nodes.nodes;
  const metrics = await (await fetch(`${front!.address}/metrics`)).text();
  expect(metrics).toMatch(/^fenceline_service_request_errors_total{service="kafka",operation="Connect"} [1-9]/m);
  expect(metrics).toMatch(/^fenceline_ingest_overloaded_total{endpoint="bulk"} [1-9]/m);
  await broker.restart();
  const fence = { type: 'circle', coordinates: [0, 0], radius: 100, description: 'edited afterwards' };
  const accepted = { timeoutMs: 120_000 };
  await until(async () => (await client.bulk([report])).status === 200, accepted);
  await until(async () => (await client.put('/v1/geofences/test/later', fence)).status === 200, accepted);
  expect(ok(await client.get('/v1/geofences/test/later')).geofence.description).toBe('edited afterwards');
  expect(nodes.restarts, 'processes that ended').toBe(0);
});

/** Longer than requests wait for Redis. */
const redisAwayMs = 4_000;
/** Longer than a node goes without asking Redis for the progress during uploads. */
const progressKeptMs = 500;

// It was answered 503 after two seconds, although Kafka accepted its locations.
it('lets an upload wait while Redis is away', { timeout }, async () => {
  const redis = await startProxy(services()!.redis);
  onTestFinished(() => redis.stop());
  const { client } = await startFront({ redis }, 'pipeline');
  redis.cutOff();
  // The progress of evaluation is remembered for a moment.
  await delay(progressKeptMs);
  const reports = Array.from({ length: batchRecords + 1 }, (_, index) => ({ ...report, deviceId: `device-${index}` }));
  const upload = client.bulk(reports);
  await delay(redisAwayMs);
  redis.mend();
  expect(ok(await upload)).toMatchObject({ accepted: reports.length, rejected: 0 });
});

/** Returns what `/health/ready` answers when the node is ready. The node refuses while a part of it is slow. */
const readiness = (nodes: ClusterNodes) =>
  until(async () => {
    const answer = await fetch(`${nodes.address()}/health/ready`);
    return answer.ok && answer.json();
  });

// It ended after two minutes, again and again, and with it the configuration and the locations of devices.
it('starts while ClickHouse is away, and has its history afterwards', { timeout }, async () => {
  const clickhouse = await startClickHouse();
  onTestFinished(() => clickhouse.stop());
  await clickhouse.kill();
  const { nodes, client } = await startFront({ clickhouse }, 'pipeline', 'analytics');
  expect(await readiness(nodes)).toEqual({ status: 'ready', waitsFor: ['clickhouse'] });

  const fence = { type: 'circle', coordinates: [0, 0], radius: 100, description: 'here' };
  ok(await client.put('/v1/geofences/test/here', fence));
  const { events } = ok(await client.post('/v1/track', { ...report, deviceId: 'visitor' }));
  expect(events.map(({ type }: Json) => type)).toEqual(['user.entered_geofence']);
  const history = ['/v1/events', '/v1/users', '/v1/analytics/visits?from=2026-01-01&to=2026-02-01'];
  for (const path of history) {
    const { status, body, headers } = await client.get(path);
    expect([status, body.meta.type, headers.get('retry-after')], path).toEqual([503, 'unavailable', '5']);
  }
  const [front] = nodes.nodes;
  const lines = front!.log().split('\n');
  const told = (role: Role) => lines.filter((line) => line.includes(`role ${role} goes on without history`));
  expect([told('api'), told('analytics')].map(({ length }) => length)).toEqual([1, 1]);
  // A node that stops does not wait for it.
  expect(await front!.restart()).toEqual({ code: 0, signal: null });
  await front!.working();

  await clickhouse.restart();
  // Both roles migrate the tables, which takes minutes while others use the disk.
  const patient = { timeoutMs: 250_000 };
  await until(async () => (await client.get('/v1/events')).status === 200, patient);
  await until(async () => ok(await client.get('/v1/events')).events.length === 1, patient);
  expect(ok(await client.get('/v1/events')).events[0]._id).toBe(events[0]._id);
  expect(await readiness(nodes)).toEqual({ status: 'ready' });
  expect(nodes.restarts, 'restarts by the test').toBe(1);
});

// It ended after a minute, again and again.
it('waits for the registry at a first start, and can be stopped meanwhile', { timeout }, async () => {
  const registry = await startRegistry();
  onTestFinished(() => registry.stop());
  await registry.kill();
  const { environment } = newTestCluster({ registry })!;
  const dataFolder = await mkdtemp(join(tmpdir(), 'fenceline-first-start-'));
  onTestFinished(() => rm(dataFolder, { recursive: true, force: true }));
  async function launchWaiting() {
    const node = launchServer({ program, dataFolder, environment: { ...environment, FENCELINE_ROLES: 'ingest' } });
    onTestFinished(async () => void (await node.kill()));
    await until(() => node.log().some((line) => line.includes('the start waits for it')), {
      describe: () => node.log().join('\n'),
    });
    return node;
  }
  expect(await (await launchWaiting()).stop()).toEqual({ code: 0, signal: null });

  const node = await launchWaiting();
  await registry.restart();
  await node.ready;
  expect(await node.stop()).toEqual({ code: 0, signal: null });
});

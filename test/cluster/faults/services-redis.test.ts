/**
 * Nothing is lost or happens twice when Redis restarts, loses its last second, is slow or out of reach, moves slots or
 * fails over.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { withRedis } from '../../../testing/services/clients.js';
import { startProxy } from '../../../testing/services/proxy.js';
import { shortNodeTimeoutMs, startRedis, startRedisCluster } from '../../../testing/services/redis.js';
import { isMaster, isReplica, masterOf, moveSlot, slotOf, takeOver } from '../../../testing/services/redis-slots.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { inCampaign } from './campaign.js';
import { type Running, run, twoNodes } from './run.js';
import { repeatsInLog, Story } from './story.js';

const story = new Story();
const { workload } = story;
const timeout = 600_000;
/** More events than can be on their way to the log. */
const forgottenEvents = 30;
/** Time limit of a snapshot, while other tests keep the disk busy. */
const saveTimeoutMs = 120_000;

it('continues at its position when Redis returns with all its data', { timeout }, async () => {
  const redis = await startRedis({ appendfsync: 'always' });
  onTestFinished(() => redis.stop());
  let restarts: number | undefined;

  async function disturb({ nodes, reached }: Running): Promise<void> {
    await reached(0.3);
    await redis.restart();
    await reached(0.6);
    await redis.kill();
    await redis.restart();
    await reached(1);
    restarts = nodes.restarts;
  }

  const disturbed = await run({
    workload,
    nodes: twoNodes,
    services: { redis },
    overMs: inCampaign(10_000, 5_000),
    disturb,
  });
  await story.expectSame('Redis restarted, and killed', disturbed);
  expect(restarts, 'processes that ended').toBe(0);
});

// Each process ended after a minute, and so did each that followed it. A campaign fills the memory for longer.
it('waits for as long as the memory of Redis is full', { timeout }, async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const fullMs = inCampaign(75_000, 3_000);
  const setMaxMemory = (bytes: number) =>
    withRedis({ host: redis.host, port: redis.port }, (client) => client.config('SET', 'maxmemory', bytes));
  let restarts: number | undefined;

  async function disturb({ nodes, reached }: Running): Promise<void> {
    await reached(0.3);
    await setMaxMemory(1);
    await until(async () => (await nodes.metric('fenceline_dependency_refusals_total')) > 0);
    await delay(fullMs);
    restarts = nodes.restarts;
    await setMaxMemory(0);
    await reached(1);
  }

  const disturbed = await run({
    workload,
    nodes: twoNodes,
    services: { redis },
    overMs: inCampaign(10_000, 4_000),
    disturb,
  });
  await story.expectSame('Redis without memory', disturbed);
  expect(restarts, 'processes that ended').toBe(0);
});

it('repeats what Redis lost', { timeout }, async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  let forgotten = 0;
  let restarts: number | undefined;

  /** Restores an earlier state, before the last events: states, positions, outboxes and deliveries. */
  async function loseTheLastEvents({ nodes, upTo }: Running): Promise<void> {
    const evaluated = () => nodes.metric('fenceline_locations_evaluated_total');
    const events = () => nodes.metric('fenceline_events_generated_total');
    await withRedis({ host: redis.host, port: redis.port, commandTimeout: saveTimeoutMs }, (client) => client.save());
    const [evaluatedBefore, eventsBefore] = [await evaluated(), await events()];
    upTo(1);
    await until(async () => (await events()) >= eventsBefore + forgottenEvents);
    forgotten += (await evaluated()) - evaluatedBefore;
    await redis.kill();
    await redis.restart();
  }

  async function disturb(running: Running): Promise<void> {
    for (const share of inCampaign([0.2, 0.4, 0.6], [0.3])) {
      // The remaining records have enough events.
      running.upTo(share + 0.2);
      await running.reached(share);
      await loseTheLastEvents(running);
    }
    await running.reached(1);
    restarts = running.nodes.restarts;
  }

  const disturbed = await run({
    workload,
    nodes: twoNodes,
    services: { redis },
    overMs: inCampaign(15_000, 8_000),
    disturb,
  });
  await story.expectSame(`${forgotten} locations forgotten`, disturbed, { deliveriesCreatedAgain: true });
  expect(repeatsInLog(disturbed)).toBeGreaterThan(0);
  expect(restarts, 'processes that ended').toBe(0);
});

it('continues while a Redis Cluster moves slots, fails over and loses a master', { timeout }, async () => {
  const redis = await startRedisCluster({ hasReplicas: true, nodeTimeoutMs: shortNodeTimeoutMs });
  onTestFinished(() => redis.stop());
  const { nodes: masters, replicas } = redis;
  const environment = {
    FENCELINE_REDIS_MODE: 'cluster',
    FENCELINE_REDIS_NODES: [...masters, ...replicas].map(({ host, port }) => `${host}:${port}`).join(','),
  };
  let ended: string | undefined;

  async function disturb({ cluster, nodes, reached }: Running): Promise<void> {
    const prefix = cluster.environment.FENCELINE_REDIS_PREFIX!;
    await reached(0.2);
    for (const tag of ['{state.0}.meta', '{state.1}.meta', '{deliveries.events.0}.meta', 'positions']) {
      const slot = await slotOf(masters[0]!, prefix + tag);
      const port = await masterOf(masters[0]!, slot);
      const from = masters.findIndex((node) => node.port === port);
      const to = (from + 1) % masters.length;
      await moveSlot(slot, masters[from]!, masters[to]!, { masters, halfway: () => delay(1_000) });
    }
    await reached(0.4);
    await takeOver(replicas[0]!);
    await reached(0.6);
    await masters[1]!.kill();
    await isMaster(replicas[1]!);
    await masters[1]!.restart();
    await isReplica(masters[1]!);
    await reached(1);
    ended = nodes.restarts > 0 ? nodes.log() : '';
  }

  const disturbed = await run({ workload, nodes: twoNodes, environment, overMs: inCampaign(15_000, 10_000), disturb });
  await story.expectSame('slots moved, replicas took over', disturbed, { deliveriesCreatedAgain: true });
  expect(ended, 'logs of all processes, if one ended').toBe('');
});

it('waits for Redis while it is slow or out of reach', { timeout }, async () => {
  const network = await startProxy(services()!.redis);
  onTestFinished(() => network.stop());
  const slowMs = inCampaign(5_000, 2_000);
  /** Longer than the time limit of a command and the session of a Kafka consumer. */
  const outageMs = inCampaign(30_000, 12_000);
  let restarts: number | undefined;

  async function disturb({ nodes, reached }: Running): Promise<void> {
    await reached(0.2);
    network.delayMs = 300;
    await delay(slowMs);
    network.mend();
    await reached(0.6);
    network.cutOff();
    await delay(outageMs);
    network.mend();
    await reached(1);
    restarts = nodes.restarts;
  }

  const disturbed = await run({
    workload,
    nodes: twoNodes,
    services: { redis: network },
    overMs: inCampaign(10_000, 5_000),
    disturb,
  });
  await story.expectSame('Redis slow, then cut off', disturbed);
  expect(restarts, 'processes that ended').toBe(0);
});

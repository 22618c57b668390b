/**
 * Nothing lost, nothing twice, whatever happens to the processes of a cluster: the same workload once in peace, and again while nodes of any role
 * are killed, paused and woken, or join and leave. Afterwards all tell the same story, as in the kill test of a single server; but the
 * event log may hold an event more than once, under the same id and with the same bytes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom, type Random } from '../../../cli/demo/random.js';
import { brokenByItself, brokenPromises, type Run } from '../../ledger/verdict.js';
import { buildWorkload } from '../../ledger/workload.js';
import { startProxy } from '../../services/proxy.js';
import { services } from '../../services/services.js';
import { sessionTimeoutMs } from '../../support/cluster.js';
import type { NodePlan, SupervisedNode } from '../../support/cluster-nodes.js';
import { until } from '../../support/until.js';
import { oneNode, type Running, run } from './run.js';

const seed = Number(process.env.FAULT_SEED ?? Date.now() % 1_000_000);
const size = { devices: 100, locationsPerDevice: 100 };
const total = size.devices * size.locationsPerDevice;
const workload = buildWorkload(1, size, Math.floor(Date.now() / 1_000) * 1_000 - 60_000);
const timeout = 240_000;

let undisturbed: Promise<Run> | undefined;

/** The run that others are held against: once per file. */
const inPeace = (): Promise<Run> => {
  undisturbed ??= run({ workload, nodes: oneNode });
  return undisturbed;
};

/** Nothing was lost, and nothing is other than in peace. */
async function expectSameStory(what: string, disturbed: Run): Promise<void> {
  const { loggedIds, events, arrivedAgain } = disturbed.ledger;
  console.log(
    `${what}: ${total} locations, ${events.length} events, ${loggedIds.length - new Set(loggedIds).size} repeats in the log, ` +
      `${arrivedAgain} locations sent again, ${disturbed.receiver.requests.length} requests at the webhook, seed ${seed}`,
  );
  const report = brokenPromises(workload, (await inPeace()).ledger, disturbed, { repeatsInLog: true });
  expect(report, `${what}, seed ${seed} (repeat with FAULT_SEED=${seed})`).toEqual([]);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const drawn = items.map((item) => ({ item, rank: random.next() }));
  return drawn.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

it('tells a story in peace', { timeout }, async () => {
  const peaceful = await inPeace();
  const { events } = peaceful.ledger;
  expect(brokenByItself(peaceful, { repeatsInLog: false })).toEqual([]);
  expect(new Set(events.map((line) => line.split(' ')[2])).size).toBe(5);
  expect(events.length).toBeGreaterThan(total / 20);
});

it('tells it when processes of all roles are killed', { timeout }, async () => {
  const random = createRandom(seed);
  const moreKills = 4;
  let restarts = 0;

  /** Each node once, and then some that may still be starting, or that work on what others left. */
  async function disturb({ nodes, reached }: Running): Promise<void> {
    const victims = [...shuffled(nodes.nodes, random), ...Array.from({ length: moreKills }, () => random.pick(nodes.nodes))];
    for (const [index, victim] of victims.entries()) {
      await reached((index + random.between(0.1, 0.9)) / (victims.length + 1));
      await victim.kill();
    }
    await nodes.working();
    restarts = nodes.nodes.reduce((sum, node) => sum + node.restarts, 0);
  }

  const disturbed = await run({ workload, overMs: 25_000, disturb });
  await expectSameStory(`${restarts} processes killed`, disturbed);
  // A victim may be down already.
  expect(restarts).toBeGreaterThanOrEqual(8);
});

it('tells it when processes of all roles are paused for longer than others wait for them', { timeout }, async () => {
  const random = createRandom(seed + 1);
  const pausedAtOnce = 2;

  async function disturb({ nodes, reached }: Running): Promise<void> {
    await reached(0.1);
    const victims = shuffled(nodes.nodes, random);
    while (victims.length > 0) {
      const paused = victims.splice(0, pausedAtOnce);
      for (const node of paused) node.pause();
      await delay(sessionTimeoutMs + random.between(500, 3_000));
      for (const node of paused) node.resume();
    }
  }

  await expectSameStory('each paused once', await run({ workload, overMs: 25_000, disturb }));
});

it('refuses what an owner writes that was paused at work and has a successor', { timeout }, async () => {
  const network = await startProxy(services()!.redis);
  onTestFinished(() => network.stop());
  const nodes: NodePlan[] = [
    { name: 'front', roles: ['ingest', 'api', 'webhooks', 'analytics'] },
    { name: 'owner', roles: ['pipeline'], environment: { FENCELINE_REDIS_NODES: `${network.host}:${network.port}` } },
    { name: 'successor', roles: ['pipeline'] },
  ];
  let refused = 0;

  async function disturb({ nodes, reached }: Running): Promise<void> {
    const [front, owner, successor] = [nodes.node('front'), nodes.node('owner'), nodes.node('successor')];
    await reached(0.3);
    // Its commits are on their way, and arrive when it has long been replaced.
    network.hold();
    await until(async () => network.heldPieces > 0 && (await isIdle(owner)));
    owner.pause();
    await reached(1);
    const backlog = () => front.metric('fenceline_location_backlog_records');
    await until(async () => (await backlog()) === 0, { timeoutMs: 60_000 });
    const atSuccessor = await evaluated(successor);
    network.mend();
    owner.resume();
    refused = await until(async () => (await owner.metric('fenceline_location_partitions_fenced_total')) || undefined);
    expect(owner.log()).toContain('"kind":"fenced"');
    expect(await evaluated(successor)).toBe(atSuccessor);
  }

  const disturbed = await run({ workload, nodes, overMs: 10_000, disturb });
  await expectSameStory(`${refused} commits refused`, disturbed);
});

const evaluated = (node: SupervisedNode): Promise<number> => node.metric('fenceline_locations_evaluated_total');

/** Under load: all its work waits for something. */
async function isIdle(node: SupervisedNode): Promise<boolean> {
  const before = await evaluated(node);
  await delay(1_000);
  return (await evaluated(node)) === before;
}

it('tells it while processes join and leave every few seconds', { timeout }, async () => {
  const random = createRandom(seed + 2);
  const nodes: NodePlan[] = [
    { name: 'front', roles: ['ingest', 'api'] },
    ...Array.from(
      { length: 3 },
      (_, index): NodePlan => ({ name: `worker-${index}`, roles: ['pipeline', 'webhooks', 'analytics'] }),
    ),
  ];
  const stormMs = 30_000;
  let departures = 0;

  async function disturb({ nodes }: Running): Promise<void> {
    const endMs = performance.now() + stormMs;
    const [, ...workers] = nodes.nodes;
    const comeAndGo = async (worker: SupervisedNode) => {
      while (performance.now() < endMs) {
        await delay(random.between(500, 4_000));
        expect(await worker.restart(), worker.log()).toEqual({ code: 0, signal: null });
        departures += 1;
        await worker.working();
      }
    };
    await Promise.all(workers.map(comeAndGo));
  }

  const disturbed = await run({ workload, nodes, overMs: stormMs, disturb });
  await expectSameStory(`${departures} departures`, disturbed);
  expect(departures).toBeGreaterThanOrEqual(6);
});

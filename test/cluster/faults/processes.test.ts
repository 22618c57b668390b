/**
 * Nothing is lost or happens twice, whatever happens to the processes of a cluster. The same workload runs once
 * undisturbed, and again while nodes of any role are killed, paused and resumed, or join and leave. Both runs must have
 * the same record, as in the kill test of a single server. There is one exception: a paused node may write an event to
 * the log late, with the same id and bytes as its successor.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom, type Random } from '../../../schemas/random.js';
import { type BadNetwork, startProxy } from '../../../testing/services/proxy.js';
import { services } from '../../../testing/services/services.js';
import { until } from '../../../testing/until.js';
import { sessionTimeoutMs } from '../../support/cluster.js';
import { type NodePlan, type SupervisedNode, usualPlan } from '../../support/cluster-nodes.js';
import { inCampaign } from './campaign.js';
import { devicesAtHome, type Running, run } from './run.js';
import { Story } from './story.js';

const seed = Number(process.env.FAULT_SEED ?? Date.now() % 1_000_000);
/** How to repeat a run: the same processes are chosen, at the same points. */
const repeating = `repeat with FAULT_SEED=${seed}`;
const story = new Story();
const { workload } = story;
const timeout = 600_000;

/** Two nodes that evaluate, and all other roles. A start costs seconds of processor time. */
const fewNodes: readonly NodePlan[] = [
  { name: 'front', roles: ['ingest', 'api'] },
  { name: 'pipeline-1', roles: ['pipeline'] },
  { name: 'pipeline-2', roles: ['pipeline'] },
  { name: 'back', roles: ['webhooks', 'analytics'] },
];
const allRoles = inCampaign(usualPlan, fewNodes);

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const drawn = items.map((item) => ({ item, rank: random.next() }));
  return drawn.sort((a, b) => a.rank - b.rank).map(({ item }) => item);
}

it('loses nothing when processes of all roles are killed', { timeout }, async () => {
  const random = createRandom(seed);
  const moreKills = inCampaign(4, 1);
  let kills = 0;

  /** Disturbs each node once, then some that may be starting, or may process the partitions of others. */
  async function disturb({ nodes, reached }: Running): Promise<void> {
    const victims = [
      ...shuffled(nodes.nodes, random),
      ...Array.from({ length: moreKills }, () => random.pick(nodes.nodes)),
    ];
    for (const [index, victim] of victims.entries()) {
      await reached((index + random.between(0.1, 0.9)) / (victims.length + 1));
      await victim.kill();
    }
    await nodes.working();
    kills = nodes.restarts;
  }

  const disturbed = await run({ workload, nodes: allRoles, overMs: inCampaign(25_000, 12_000), disturb });
  await story.expectSame(`${kills} processes killed, ${repeating}`, disturbed, { repeatsInLog: false });
  // Some of the later victims may be down already.
  expect(kills).toBeGreaterThanOrEqual(allRoles.length);
});

it('loses nothing when processes of all roles are paused beyond their session timeout', { timeout }, async () => {
  const random = createRandom(seed + 1);
  const pausedAtOnce = 2;

  async function disturb({ nodes, reached }: Running): Promise<void> {
    await reached(0.1);
    const victims = shuffled(nodes.nodes, random);
    while (victims.length > 0) {
      const paused = victims.splice(0, pausedAtOnce);
      await Promise.all(paused.map((node) => node.pause()));
      await delay(sessionTimeoutMs + random.between(500, inCampaign(3_000, 1_000)));
      for (const node of paused) node.resume();
    }
  }

  const overMs = inCampaign(25_000, 14_000);
  const disturbed = await run({ workload, nodes: allRoles, overMs, disturb });
  await story.expectSame(`all processes paused, ${repeating}`, disturbed);
});

/** Returns an owner of partitions with a separate network to Redis, and its successor. */
async function ownerAndSuccessor(): Promise<{ network: BadNetwork; nodes: NodePlan[] }> {
  const network = await startProxy(services()!.redis);
  onTestFinished(() => network.stop());
  const nodes: NodePlan[] = [
    { name: 'front', roles: ['ingest', 'api', 'webhooks', 'analytics'] },
    { name: 'owner', roles: ['pipeline'], environment: { FENCELINE_REDIS_NODES: `${network.host}:${network.port}` } },
    { name: 'successor', roles: ['pipeline'] },
  ];
  return { network, nodes };
}

it('publishes what a killed owner had committed but not published', { timeout }, async () => {
  const { network, nodes } = await ownerAndSuccessor();

  async function disturb({ nodes, reached, upTo }: Running): Promise<void> {
    const owner = nodes.node('owner');
    upTo(0.6);
    await reached(0.3);
    // The owner never gets the replies to its commits.
    network.dropsAnswers = true;
    upTo(1);
    await until(() => isIdle(owner));
    await owner.kill();
    network.mend();
  }

  const disturbed = await run({ workload, nodes, overMs: inCampaign(10_000, 4_000), disturb });
  await story.expectSame('killed after a commit', disturbed, { repeatsInLog: false });
});

it('fences off an owner that was paused during its work and has a successor', { timeout }, async () => {
  const { network, nodes } = await ownerAndSuccessor();
  let refused = 0;

  async function disturb({ nodes, reached, upTo }: Running): Promise<void> {
    const [owner, successor] = [nodes.node('owner'), nodes.node('successor')];
    upTo(0.6);
    await reached(0.3);
    // Its commits are held in the network, and arrive long after its replacement.
    network.hold();
    upTo(1);
    await until(async () => network.heldPieces > 0 && (await isIdle(owner)));
    await owner.pause();
    await reached(1);
    await until(async () => (await devicesAtHome(nodes)) === workload.devices.length);
    const atSuccessor = await evaluated(successor);
    network.mend();
    owner.resume();
    refused = await until(async () => (await owner.metric('fenceline_location_partitions_fenced_total')) || undefined);
    // The log arrives through a pipe, possibly after the metric.
    await until(() => owner.log().includes('"kind":"fenced"'), { describe: () => owner.log() });
    expect(await evaluated(successor)).toBe(atSuccessor);
  }

  const disturbed = await run({ workload, nodes, overMs: inCampaign(10_000, 4_000), disturb });
  await story.expectSame(`${refused} commits refused`, disturbed);
});

const evaluated = (node: SupervisedNode): Promise<number> => node.metric('fenceline_locations_evaluated_total');

/** Returns whether the node under load is idle: all its work waits for something. */
async function isIdle(node: SupervisedNode): Promise<boolean> {
  const before = await evaluated(node);
  await delay(1_000);
  return (await evaluated(node)) === before;
}

it('loses nothing while processes join and leave every few seconds', { timeout }, async () => {
  const random = createRandom(seed + 2);
  const nodes: NodePlan[] = [
    { name: 'front', roles: ['ingest', 'api'] },
    ...Array.from(
      { length: 3 },
      (_, index): NodePlan => ({ name: `worker-${index}`, roles: ['pipeline', 'webhooks', 'analytics'] }),
    ),
  ];
  /** The first leaves again after it has come back. */
  const departuresOf = inCampaign([5, 5, 5], [2, 1, 1]);
  const overMs = inCampaign(30_000, 10_000);
  let departures = 0;

  async function disturb({ nodes }: Running): Promise<void> {
    const [, ...workers] = nodes.nodes;
    const comeAndGo = async (worker: SupervisedNode, index: number) => {
      for (let life = 0; life < departuresOf[index]!; life++) {
        await delay(random.between(500, inCampaign(4_000, 2_000)));
        expect(await worker.restart(), worker.log()).toEqual({ code: 0, signal: null });
        departures += 1;
        await worker.working();
      }
    };
    await Promise.all(workers.map(comeAndGo));
  }

  const disturbed = await run({ workload, nodes, overMs, disturb });
  await story.expectSame(`${departures} departures, ${repeating}`, disturbed, { repeatsInLog: false });
});

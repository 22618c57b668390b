/**
 * docs/upgrading.md: under load, the nodes of a cluster are replaced one by one by another build, back again, and once
 * more, in the documented orders. Nothing is lost and nothing happens twice.
 *
 * PREVIOUS_PROGRAM names the build of an earlier version. `testing/previous-program.mjs` makes one, also for `.ci/run`.
 */
import { expect, it } from 'vitest';
import type { NodePlan } from '../../support/cluster-nodes.js';
import { program } from '../../support/program.js';
import { inCampaign } from './campaign.js';
import { type Running, run } from './run.js';
import { Story } from './story.js';

const previous = process.env.PREVIOUS_PROGRAM ?? '';

const pipelines: readonly NodePlan[] = ['pipeline-1', 'pipeline-2'].map((name) => ({ name, roles: ['pipeline'] }));

/**
 * The nodes in the order of an upgrade: readers before writers. Each is started four times, for a second of processor
 * time or two, so the usual run has two nodes of the one role whose partitions move from build to build.
 */
const nodesInOrder = inCampaign<readonly NodePlan[]>(
  [
    { name: 'analytics', roles: ['analytics'] },
    { name: 'webhooks', roles: ['webhooks'] },
    ...pipelines,
    { name: 'front-1', roles: ['api', 'ingest'] },
    { name: 'front-2', roles: ['api', 'ingest'] },
  ],
  [{ name: 'back', roles: ['webhooks', 'analytics'] }, ...pipelines, { name: 'front', roles: ['api', 'ingest'] }],
);
const names = nodesInOrder.map(({ name }) => name);

it.skipIf(!previous)('an upgrade, a rollback and another upgrade lose nothing', { timeout: 600_000 }, async () => {
  const story = new Story();
  const steps = [
    ...names.map((name) => ({ name, to: program })),
    ...names.toReversed().map((name) => ({ name, to: previous })),
    ...names.map((name) => ({ name, to: program })),
  ];

  async function disturb({ nodes, reached, upTo }: Running): Promise<void> {
    for (const [index, { name, to }] of steps.entries()) {
      // Only one more share is sent while the node is replaced.
      upTo((index + 1) / steps.length);
      await reached((index + 0.3) / steps.length);
      await nodes.node(name).replace(to);
    }
    upTo(1);
    expect(nodes.restarts).toBe(steps.length);
  }

  const nodes = nodesInOrder.map((node) => ({ ...node, program: previous }));
  const upgraded = await run({ workload: story.workload, nodes, overMs: inCampaign(25_000, 12_000), disturb });
  await story.expectSame(`${steps.length} nodes replaced`, upgraded, { repeatsInLog: false });
});

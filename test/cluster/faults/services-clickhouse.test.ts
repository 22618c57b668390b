/** Locations, events and webhooks continue while ClickHouse is down. Afterwards it has all of them once. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startClickHouse } from '../../../testing/services/clickhouse/clickhouse.js';
import { until } from '../../../testing/until.js';
import { deliveredIds } from '../../ledger/deliveries.js';
import { inCampaign } from './campaign.js';
import { oneNode, type Running, run } from './run.js';
import { Story } from './story.js';

const story = new Story();

it('works without ClickHouse', { timeout: 600_000 }, async () => {
  const clickhouse = await startClickHouse();
  onTestFinished(() => clickhouse.stop());
  const outageMs = inCampaign(60_000, 8_000);
  let restarts: number | undefined;

  async function disturb({ nodes, receiver, reached }: Running): Promise<void> {
    await reached(0.2);
    await clickhouse.kill();
    const outage = delay(outageMs);
    expect((await nodes.as('test_secret').get('/v1/events')).status).toBe(503);

    await reached(1);
    const evaluated = () => nodes.metric('fenceline_locations_evaluated_total');
    await until(async () => (await evaluated()) >= story.total);
    const generated = () => nodes.metric('fenceline_events_generated_total');
    await until(async () => deliveredIds(receiver).size === (await generated()));

    await outage;
    restarts = nodes.restarts;
    await clickhouse.restart();
  }

  const { workload } = story;
  const disturbed = await run({
    workload,
    // Nodes do not tell each other of ClickHouse, so a second one would only repeat what this one does.
    nodes: oneNode,
    services: { clickhouse },
    overMs: inCampaign(10_000, 4_000),
    disturb,
  });
  await story.expectSame('ClickHouse down', disturbed);
  expect(restarts, 'processes that ended').toBe(0);
});

/** Nothing is lost or happens twice when Kafka's only broker is killed and restarted on its data. */
import { expect, it, onTestFinished } from 'vitest';
import { startKafka } from '../../../testing/services/kafka.js';
import { inCampaign } from './campaign.js';
import { type Running, run, twoNodes } from './run.js';
import { Story } from './story.js';

const story = new Story();

it('survives the restart of a killed broker', { timeout: 600_000 }, async () => {
  const broker = await startKafka();
  onTestFinished(() => broker.stop());
  let restarts: number | undefined;

  async function disturb({ nodes, reached }: Running): Promise<void> {
    for (const share of [0.2, 0.6]) {
      await reached(share);
      await broker.kill();
      await broker.restart();
    }
    await reached(1);
    restarts = nodes.restarts;
  }

  const { workload } = story;
  const disturbed = await run({
    workload,
    nodes: twoNodes,
    services: { kafka: broker },
    overMs: inCampaign(12_000, 6_000),
    disturb,
  });
  await story.expectSame('the broker killed twice', disturbed);
  expect(restarts, 'processes that ended').toBe(0);
});

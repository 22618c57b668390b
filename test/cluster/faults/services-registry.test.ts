/**
 * Records are written and read while the registry is down, and after it returned without its data and assigns other
 * ids.
 */
import { expect, it, onTestFinished } from 'vitest';
import { topics } from '../../../pipeline/ports.js';
import { type RegistryServer, startRegistry } from '../../../testing/services/registry.js';
import { inCampaign } from './campaign.js';
import { type Running, run, twoNodes } from './run.js';
import { Story } from './story.js';

const story = new Story();
/** More than we ever register, so that we never had the ids after these. */
const strangers = 40;

it('works without its registry, and with one that lost its data', { timeout: 600_000 }, async () => {
  const registry = await startRegistry();
  onTestFinished(() => registry.stop());

  async function disturb({ cluster, nodes, reached }: Running): Promise<void> {
    const [stayer, starter] = [nodes.node('first'), nodes.node('second')];
    const subject = `${cluster.name}.${topics.locations}-value`;
    const startAnew = async () => {
      expect(await starter.restart(), starter.log()).toEqual({ code: 0, signal: null });
      await starter.working();
    };
    await reached(0.1);
    const idBefore = await newestIdOf(registry, subject);
    await registry.kill();
    await startAnew();
    await reached(0.5);

    await registry.restart();
    for (let number = 0; number < strangers; number += 1) await registerStranger(registry, number);
    await startAnew();
    expect(await newestIdOf(registry, subject)).toBeGreaterThan(Math.max(idBefore, strangers));
    await reached(1);
    expect([stayer.restarts, starter.restarts], 'processes that ended').toEqual([0, 2]);
  }

  const { workload } = story;
  const disturbed = await run({
    workload,
    nodes: twoNodes,
    services: { registry },
    overMs: inCampaign(25_000, 10_000),
    disturb,
  });
  await story.expectSame('the registry down, and back empty', disturbed);
});

async function newestIdOf({ url }: RegistryServer, subject: string): Promise<number> {
  const answer = await fetch(`${url}/subjects/${subject}/versions/latest`);
  return ((await answer.json()) as { id: number }).id;
}

/** Registers a foreign schema, which takes the next id. */
async function registerStranger({ url }: RegistryServer, number: number): Promise<void> {
  const name = `stranger_${number}`;
  const answer = await fetch(`${url}/subjects/${name}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema: JSON.stringify({ type: 'enum', name, symbols: ['NONE'] }) }),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

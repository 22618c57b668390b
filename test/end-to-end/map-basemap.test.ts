/**
 * The default basemap is baked in the background when a node starts. Regression: the first map baked it, and took 12 to
 * 18 s, about as long as a map may take.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { pauseProcess } from '../../testing/pause.js';
import { until } from '../../testing/until.js';
import type { Json } from '../support/client.js';
import { askMap, pictureOf } from '../support/maps.js';
import { TestServer } from '../support/server.js';

const query = { width: '300', height: '200', center: '47,10', zoom: '4' };
const bakingMs = 240_000;

async function start(environment: Record<string, string> = {}): Promise<TestServer> {
  const server = await TestServer.start(environment, async () => {});
  onTestFinished(() => server.dispose());
  return server;
}

const files = (server: TestServer): string[] => {
  try {
    return readdirSync(join(server.dataFolder, 'basemap'));
  } catch {
    return [];
  }
};
const isBaked = (server: TestServer): boolean => files(server).some((name) => name.endsWith('.pmtiles'));

/** The process that bakes for a server. */
function bakingProcess(server: TestServer): number | undefined {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      try {
        const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
        return parent === server.process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('baking-process');
      } catch {
        return false;
      }
    });
}

it('the basemap is baked early, and again after a kill, while locations are answered and maps wait', async () => {
  const server = await start();
  process.kill(await until(() => bakingProcess(server)), 'SIGKILL');
  await until(() => bakingProcess(server) === undefined);
  expect(isBaked(server)).toBe(false);

  // A map that was requested before the server noticed is refused. The next one bakes, and waits.
  const asked: Promise<Response>[] = [];
  await until(() => {
    asked.push(askMap(server, query));
    return bakingProcess(server) !== undefined || isBaked(server);
  });
  await server.as('test_publishable').track({ deviceId: 'first', latitude: 43.7, longitude: 11.2, accuracy: 10 });
  const isReady = async () => (await fetch(`${server.address}/health/ready`)).status === 200;
  // The bake takes the processor, so the parts of the node may answer too late for one request.
  const soonest = async () => ((await isReady()) ? 'ready' : isBaked(server) && 'baked');
  expect(await until(soonest, { timeoutMs: bakingMs })).toBe('ready');
  await until(() => isBaked(server), { timeoutMs: bakingMs });
  await pictureOf(await asked.at(-1)!);
  expect(files(server)).toHaveLength(1);
});

it('a map that cannot wait any longer gets Retry-After', async () => {
  const impatient = await start({ FENCELINE_MAPS_TIMEOUT_MS: '200' });
  const baking = await until(() => bakingProcess(impatient));
  onTestFinished(() => void process.kill(baking, 'SIGKILL'));
  // A stopped process cannot end before the map has waited.
  await pauseProcess(baking);
  const answer = await askMap(impatient, query);
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  const { meta }: Json = await answer.json();
  expect(meta).toMatchObject({ type: 'unavailable', message: expect.stringContaining('the basemap is being baked') });
});

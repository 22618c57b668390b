/** A million fences: time from restart to ready, memory, and the time until an upsert takes effect under load. */
import type { BenchCase, BenchOptions, Row } from '../case.js';
import { BenchServer } from '../server.js';
import { box, type FenceMix, tenfoldBox, wander } from '../workload.js';

/** As dense as 100,000 fences in a metropolis: one covers each point. */
const mix: FenceMix = { count: 1_000_000, radiusM: 150, polygons: 1, vertices: () => 32, seed: 11, area: tenfoldBox };
const linesPerRequest = 2_000;

/** Keeps bulk requests in flight until it is stopped. */
function load(server: BenchServer): { stop(): Promise<void> } {
  const fixes = wander(20_000, 12);
  let isStopping = false;
  const body = (): string =>
    Array.from({ length: linesPerRequest }, () => {
      const { device, longitude, latitude } = fixes.next().value;
      return JSON.stringify({ deviceId: `device-${device}`, latitude, longitude, accuracy: 10, foreground: true });
    }).join('\n');
  async function sender(): Promise<void> {
    while (!isStopping)
      await server.send('POST', '/v1/locations', server.keys.test_secret, body(), 'application/x-ndjson');
  }
  const senders = Promise.all([sender(), sender()]);
  return {
    async stop() {
      isStopping = true;
      await senders;
    },
  };
}

/** Measures the milliseconds from sending an upsert to the first track call that enters the fence. */
async function upsertToEffect(server: BenchServer, index: number): Promise<number> {
  const longitude = box.west + 1 + index * 0.01;
  const startedAt = performance.now();
  const fence = { description: 'New', type: 'circle', coordinates: [longitude, box.south], radius: 100 };
  await server.send('PUT', `/v1/geofences/new/${index}`, server.keys.test_secret, JSON.stringify(fence));
  const point = { deviceId: `visitor-${index}`, latitude: box.south, longitude, accuracy: 5, foreground: true };
  for (let attempt = 0; attempt < 100; attempt++) {
    const { text } = await server.send('POST', '/v1/track', server.keys.test_publishable, JSON.stringify(point));
    if (text.includes(`"externalId":"${index}"`)) return performance.now() - startedAt;
  }
  throw new Error('the upsert never took effect');
}

async function run(options: BenchOptions): Promise<Row[]> {
  const { smoke } = options;
  const server = await BenchServer.with(mix, options);
  try {
    const startsS: number[] = [];
    for (let index = 0; index < (smoke ? 1 : 3); index++) {
      await server.stop();
      startsS.push((await server.start()) / 1_000);
    }
    const memory = [server.anonymousMemoryBytes() / 2 ** 20];
    const running = load(server);
    const effects: number[] = [];
    for (let index = 0; index < (smoke ? 2 : 20); index++) effects.push(await upsertToEffect(server, index));
    await running.stop();
    const fences = smoke ? '1 k' : '1 M';
    return [
      { what: `restart to ready, ${fences} fences`, unit: 's', rounds: startsS, target: '< 10' },
      { what: `memory of ${fences} fences of 32 vertices`, unit: 'MiB', rounds: memory, target: '< 1,536' },
      { what: 'upsert to effect under full load', unit: 'ms', rounds: effects, target: '< 1,000' },
    ];
  } finally {
    await server.dispose();
  }
}

/** A million fences in one process. */
export const catalogCase: BenchCase = { name: 'catalog', about: 'a million fences', run };

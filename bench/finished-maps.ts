/** How long a map takes that was asked for before, from a server over HTTP. */
import { type BenchOptions, percentile, type Row } from './case.js';
import { BenchServer } from './server.js';
import type { FenceMix } from './workload.js';

const noFences: FenceMix = { count: 0, radiusM: 0, polygons: 0, vertices: () => 0, seed: 1 };
const query = 'width=600&height=400&center=47,11&zoom=5&scale=2';

/** The time of each of so many answers, in milliseconds. */
async function ask(server: BenchServer, count: number): Promise<number[]> {
  const key = server.keys.test_publishable;
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const startedAt = performance.now();
    const answer = await server.send('GET', `/maps/static?${query}&publishableKey=${key}`, key);
    times.push(performance.now() - startedAt);
    if (answer.status !== 200) throw new Error(`a map was answered ${answer.status}: ${answer.text}`);
  }
  return times;
}

/** Measures a server of its own, over HTTP. */
export async function finishedMapRows(options: BenchOptions): Promise<Row[]> {
  const { smoke } = options;
  const server = await BenchServer.with(noFences, options);
  try {
    await ask(server, smoke ? 3 : 500);
    const rounds: number[][] = [];
    for (let i = 0; i < (smoke ? 1 : 3); i++) rounds.push(await ask(server, smoke ? 3 : 1_000));
    const row = (name: string, share: number): Row => ({
      what: `basemap @2x, drawn before, over HTTP: ${name}`,
      unit: 'ms',
      rounds: rounds.map((times) => percentile(times, share)),
    });
    return [{ ...row('median', 0.5), target: '<= 2' }, row('p95', 0.95)];
  } finally {
    await server.dispose();
  }
}

/**
 * End to end on the embedded backends, with all parts: HTTP bulk upload, durable log, states, events, outcomes, chDB.
 *
 * This process sends, on the same cores. Accepted: acknowledged as durable. Applied: state and events committed.
 * Stored: rows in the analytics engine.
 */
import { until } from '../../testing/until.js';
import { type BenchCase, type BenchOptions, type Row, spread } from '../case.js';
import { BenchServer } from '../server.js';
import { type UploadShape, uploadAll, uploadBodies } from '../uploads.js';
import type { FenceMix } from '../workload.js';

interface Setting {
  readonly what: string;
  readonly mix: FenceMix;
  readonly shape: UploadShape;
  /** Stored per second. */
  readonly target: string;
}

const circles = (count: number): FenceMix => ({ count, radiusM: 100, polygons: 0, vertices: () => 0, seed: 5 });

/** With steps of 50 m and 100,000 fences every second location causes an event, which is more than in a real city. */
const settings: readonly Setting[] = [
  { what: '100 k circles of 100 m', mix: circles(100_000), shape: 'plain', target: '>= 80,000' },
  { what: '10 k circles of 100 m', mix: circles(10_000), shape: 'plain', target: '>= 120,000' },
  { what: '100 k circles of 100 m, as SDKs report', mix: circles(100_000), shape: 'sdk', target: '>= 60,000' },
  { what: '10 k circles of 100 m, as SDKs report', mix: circles(10_000), shape: 'sdk', target: '>= 90,000' },
];

const polling = { pollEveryMs: 20 };

interface Round {
  readonly accepted: number;
  readonly applied: number;
  readonly stored: number;
  /** Events per location. */
  readonly events: number;
  /** Processor time of the server per location, all threads, microseconds. */
  readonly processorUs: number;
}

/** Runs one round. Returns locations per second up to each stage. */
async function round(server: BenchServer, count: number, requests: readonly Buffer[]): Promise<Round> {
  const evaluated = await server.counter('locations_evaluated_total');
  const generated = await server.counter('events_generated_total');
  const rows = await server.counter('analytics_rows_total', 'table="locations"');
  const processorUs = server.processorUs();
  const startedAt = performance.now();
  const perSecond = (): number => (count / (performance.now() - startedAt)) * 1_000;
  const key = server.keys.test_secret;
  await uploadAll(requests, (body) => server.send('POST', '/v1/locations', key, body, 'application/x-ndjson'));
  const accepted = perSecond();
  await until(async () => (await server.counter('locations_evaluated_total')) >= evaluated + count, polling);
  const applied = perSecond();
  await until(async () => (await server.counter('analytics_rows_total', 'table="locations"')) >= rows + count, polling);
  const stored = perSecond();
  const spentUs = server.processorUs() - processorUs;
  const events = ((await server.counter('events_generated_total')) - generated) / count;
  return { accepted, applied, stored, events, processorUs: spentUs / count };
}

async function measure({ what: fences, mix, shape, target }: Setting, options: BenchOptions): Promise<Row[]> {
  const { smoke } = options;
  const count = smoke ? 4_000 : 400_000;
  const rounds = smoke ? 1 : 3;
  const server = await BenchServer.with(mix, options);
  try {
    const measured: Round[] = [];
    const startMs = Date.now() - 3_600_000;
    for (let index = 0; index <= rounds; index++) {
      const requests = uploadBodies(count, 6 + index, startMs + index * 600_000, shape);
      const result = await round(server, count, requests);
      // The first round warms up.
      if (index > 0) measured.push(result);
    }
    const events = spread(measured.map((result) => result.events)).median;
    const row = (what: 'accepted' | 'applied' | 'stored', target?: string): Row => ({
      what: `${what}: ${fences}, ${events.toFixed(2)} events per location`,
      unit: 'locations/s',
      rounds: measured.map((result) => result[what]),
      ...(target !== undefined && { target }),
    });
    const memory = {
      what: `memory afterwards: ${fences}`,
      unit: 'MiB',
      rounds: [server.anonymousMemoryBytes() / 2 ** 20],
    };
    const processor = {
      what: `processor time of the server: ${fences}`,
      unit: 'µs/location',
      rounds: measured.map(({ processorUs }) => processorUs),
    };
    return [row('accepted'), row('applied'), row('stored', target), processor, memory];
  } finally {
    await server.dispose();
  }
}

/** Locations from HTTP to stored rows. */
export const endToEndCase: BenchCase = {
  name: 'end-to-end',
  about: 'HTTP bulk to stored rows, everything on disk',
  async run(options) {
    const rows: Row[] = [];
    // Small, they differ only in their shape, and the other one is uploaded by other cases.
    const chosen = options.smoke ? settings.slice(-1) : settings;
    for (const setting of chosen) rows.push(...(await measure(setting, options)));
    return rows;
  },
};

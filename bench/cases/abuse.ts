/**
 * Measures how clients that report an accuracy of 100 km affect others: round trips of ordinary track calls at a
 * constant rate, while eight clients with a publishable key send one location after another.
 *
 * The first row has eight clients of ordinary accuracy. The difference of the others is the effect of the accuracy.
 */
import { type BenchCase, type BenchOptions, percentile, type Row } from '../case.js';
import { BenchServer } from '../server.js';
import { type FenceMix, wander } from '../workload.js';
import { driveTrackCalls } from './track.js';

const ordinary = { devices: 2_000, requestsPerSecond: 100 };
const callers = 8;
const mix: FenceMix = { count: 100_000, radiusM: 100, polygons: 0.5, vertices: () => 32, seed: 7 };
const ordinaryM = 10;
const hugeM = 100_000;

interface Setting {
  readonly what: string;
  readonly bufferEntries: boolean;
  /** The accuracies of a client's locations, in turn. */
  readonly accuraciesM: readonly number[];
  readonly target?: string;
}

const settings: readonly Setting[] = [
  { what: '8 callers with 10 m', bufferEntries: false, accuraciesM: [ordinaryM] },
  { what: '8 callers with 100 km', bufferEntries: false, accuraciesM: [hugeM], target: 'as with 10 m' },
  { what: '8 callers with 100 km, buffered entries', bufferEntries: true, accuraciesM: [hugeM] },
  {
    what: '8 callers with 100 km and 10 m in turn, buffered entries',
    bufferEntries: true,
    accuraciesM: [hugeM, ordinaryM],
  },
];

/** Sends locations, each as soon as the previous one is answered. */
function startCallers(server: BenchServer, { accuraciesM }: Setting, seed: number): { stop(): Promise<number[]> } {
  const fixes = wander(callers, seed);
  const latenciesMs: number[] = [];
  let isStopping = false;
  async function caller(number: number): Promise<void> {
    for (let index = 0; !isStopping; index++) {
      const { longitude, latitude } = fixes.next().value;
      const accuracy = accuraciesM[index % accuraciesM.length]!;
      const body = JSON.stringify({ deviceId: `caller-${number}`, latitude, longitude, accuracy, foreground: true });
      const startedAt = performance.now();
      await server.send('POST', '/v1/track', server.keys.test_publishable, body);
      latenciesMs.push(performance.now() - startedAt);
    }
  }
  const done = Promise.all(Array.from({ length: callers }, (_, number) => caller(number)));
  return {
    async stop() {
      isStopping = true;
      await done;
      return latenciesMs;
    },
  };
}

/** Sets whether the accuracy of a location counts for its entries. */
async function buffer(server: BenchServer, bufferEntries: boolean): Promise<void> {
  await server.send('PUT', '/v1/settings', server.keys.test_secret, JSON.stringify({ bufferEntries }));
}

async function measure(server: BenchServer, setting: Setting, rounds: number, seconds: number): Promise<Row[]> {
  await buffer(server, setting.bufferEntries);
  const others: number[][] = [];
  const own: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const abuse = startCallers(server, setting, 20 + round);
    others.push(await driveTrackCalls(server, { ...ordinary, seconds, seed: 30 + round }));
    own.push(await abuse.stop());
  }
  const { what, target } = setting;
  return [
    {
      what: `${what}: p50 of others`,
      unit: 'ms',
      rounds: others.map((some) => percentile(some, 0.5)),
      ...(target && { target }),
    },
    { what: '  p99 of others', unit: 'ms', rounds: others.map((some) => percentile(some, 0.99)) },
    { what: '  p50 of the callers', unit: 'ms', rounds: own.map((some) => percentile(some, 0.5)) },
  ];
}

async function run(options: BenchOptions): Promise<Row[]> {
  const { smoke } = options;
  const server = await BenchServer.with(mix, options);
  try {
    await driveTrackCalls(server, { ...ordinary, seconds: smoke ? 0.2 : 5, seed: 19 });
    const rows: Row[] = [];
    for (const setting of smoke ? settings.slice(-1) : settings)
      rows.push(...(await measure(server, setting, smoke ? 1 : 3, smoke ? 0.2 : 8)));
    return rows;
  } finally {
    // Other cases may use the same server.
    await buffer(server, false);
    await server.dispose();
  }
}

/** The effect of clients with huge accuracy on others. */
export const abuseCase: BenchCase = {
  name: 'abuse',
  about: `${ordinary.requestsPerSecond} ordinary track calls per second, beside clients with huge accuracy`,
  run,
};

/** Round trips of track calls at a constant rate, with their events in the answer. */
import { type BenchCase, type BenchOptions, percentile, type Row } from '../case.js';
import { BenchServer } from '../server.js';
import { type FenceMix, type Fix, wander } from '../workload.js';

const ordinary = { devices: 5_000, requestsPerSecond: 500 };
const clients = 64;
const mix: FenceMix = { count: 100_000, radiusM: 100, polygons: 0, vertices: () => 0, seed: 7 };

interface TrackLoad {
  readonly devices: number;
  readonly requestsPerSecond: number;
  readonly seconds: number;
  readonly seed: number;
}

/**
 * Sends on schedule without waiting for earlier answers, and measures from the scheduled time. So a stall shows in
 * every call that it delays.
 */
export async function driveTrackCalls(
  server: BenchServer,
  { devices, requestsPerSecond, seconds, seed }: TrackLoad,
): Promise<number[]> {
  const fixes = wander(devices, seed);
  const latenciesMs: number[] = [];
  const answers: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < seconds * requestsPerSecond; index++) {
    const dueAt = startedAt + (index * 1_000) / requestsPerSecond;
    const early = dueAt - performance.now();
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
    answers.push(track(server, fixes.next().value).then(() => void latenciesMs.push(performance.now() - dueAt)));
  }
  await Promise.all(answers);
  return latenciesMs;
}

/** Returns the calls a second of clients that each send the next call when the last is answered. */
async function highestRate(server: BenchServer, seconds: number, seed: number): Promise<number> {
  const fixes = wander(ordinary.devices, seed);
  const endsAt = performance.now() + seconds * 1_000;
  let answered = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      await track(server, fixes.next().value);
      answered++;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answered / seconds;
}

async function track(server: BenchServer, { device, longitude, latitude }: Fix): Promise<void> {
  const body = JSON.stringify({ deviceId: `phone-${device}`, latitude, longitude, accuracy: 10, foreground: true });
  const { status, text } = await server.send('POST', '/v1/track', server.keys.test_publishable, body);
  if (status !== 200) throw new Error(`track answered ${status}: ${text}`);
}

async function run(options: BenchOptions): Promise<Row[]> {
  const { smoke } = options;
  const server = await BenchServer.with(mix, options);
  try {
    const drive = (seconds: number, seed: number) => driveTrackCalls(server, { ...ordinary, seconds, seed });
    await drive(smoke ? 0.2 : 10, 8);
    const rounds: number[][] = [];
    for (let index = 0; index < (smoke ? 1 : 3); index++) rounds.push(await drive(smoke ? 0.2 : 20, 9 + index));
    const highest: number[] = [];
    for (let index = 0; index < (smoke ? 1 : 3); index++)
      highest.push(await highestRate(server, smoke ? 0.2 : 10, 20 + index));
    const late = await server.counter('track_replies_timed_out_total');
    return [
      { what: 'p50', unit: 'ms', rounds: rounds.map((latencies) => percentile(latencies, 0.5)) },
      { what: 'p99', unit: 'ms', rounds: rounds.map((latencies) => percentile(latencies, 0.99)), target: '<= 15' },
      { what: `highest rate, ${clients} calls in flight`, unit: 'calls/s', rounds: highest, target: '>= 5,000' },
      { what: 'answers without their events', unit: 'answers', rounds: [late], target: '<= 0' },
    ];
  } finally {
    await server.dispose();
  }
}

/** Round trips of track calls. */
export const trackCase: BenchCase = {
  name: 'track',
  about: `${ordinary.requestsPerSecond} track calls per second, 100 k circles`,
  run,
};

/**
 * A node under a steady, modest load for as long as wanted: does its memory grow?
 *
 * A quarter of the locations come as track calls, the rest as one bulk upload a second. Memory is what the process has
 * of its own: mapped files are the system's to take back. Every reading is printed as it is taken.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchCase, BenchOptions, Row } from '../case.js';
import { ownMemoryMib, slope } from '../memory.js';
import { BenchServer } from '../server.js';
import { type FenceMix, wander } from '../workload.js';

const locationsPerSecond = 400;
const trackCallsPerSecond = 100;
const devices = 50_000;
const mix: FenceMix = { count: 10_000, radiusM: 100, polygons: 0.5, vertices: () => 30, seed: 11 };

const defaultMinutes = 2;
const smokeMinutes = 0.1;
const readingIntervalMs = 60_000;
const tickMs = 1_000;
/** Share of the readings that are ignored, because caches and memory pools fill first. */
const warmUpShare = 0.5;

interface Reading {
  readonly minutes: number;
  readonly mib: number;
  readonly locations: number;
  readonly events: number;
  readonly backlogRecords: number;
}

async function read(server: BenchServer, startedAt: number): Promise<Reading> {
  const [locations, events, backlogRecords] = await Promise.all([
    server.counter('locations_evaluated_total'),
    server.counter('events_generated_total'),
    server.counter('location_backlog_records'),
  ]);
  const minutes = (performance.now() - startedAt) / 60_000;
  return { minutes, mib: ownMemoryMib(server.pid), locations, events, backlogRecords };
}

/** One second's locations, all of the same fleet. */
async function sendSecond(server: BenchServer, fixes: ReturnType<typeof wander>): Promise<void> {
  const next = (): string => {
    const { device, longitude, latitude } = fixes.next().value as {
      device: number;
      longitude: number;
      latitude: number;
    };
    return JSON.stringify({ deviceId: `phone-${device}`, latitude, longitude, accuracy: 10, foreground: true });
  };
  const lines = Array.from({ length: locationsPerSecond - trackCallsPerSecond }, next);
  const bulk = server.send(
    'POST',
    '/v1/locations',
    server.keys.test_secret,
    `${lines.join('\n')}\n`,
    'application/x-ndjson',
  );
  const calls = Array.from({ length: trackCallsPerSecond }, async (_, index) => {
    await delay((index * tickMs) / trackCallsPerSecond);
    return server.send('POST', '/v1/track', server.keys.test_publishable, next());
  });
  for (const { status, text } of await Promise.all([bulk, ...calls])) {
    if (status !== 200) throw new Error(`answered ${status}: ${text}`);
  }
}

/** Throws when the server answers anything but 200. */
async function soak(server: BenchServer, minutes: number): Promise<Reading[]> {
  const fixes = wander(devices, 12);
  const startedAt = performance.now();
  const readings: Reading[] = [];
  const intervalMs = Math.min(readingIntervalMs, (minutes * 60_000) / 4);
  for (let tick = 0; performance.now() - startedAt < minutes * 60_000; tick++) {
    const early = startedAt + tick * tickMs - performance.now();
    if (early > 0) await delay(early);
    await sendSecond(server, fixes);
    if (performance.now() - startedAt < readings.length * intervalMs) continue;
    const reading = await read(server, startedAt);
    readings.push(reading);
    console.log(
      `${reading.minutes.toFixed(1)} min: ${reading.mib.toFixed(1)} MiB, ${reading.locations} locations evaluated, ` +
        `${reading.events} events, backlog ${reading.backlogRecords}`,
    );
  }
  return readings;
}

async function run(options: BenchOptions): Promise<Row[]> {
  const { smoke, minutes } = options;
  const server = await BenchServer.with(mix, options);
  try {
    const readings = await soak(server, minutes ?? (smoke ? smokeMinutes : defaultMinutes));
    const warm = readings.slice(Math.floor(warmUpShare * readings.length));
    const last = readings.at(-1) as Reading;
    const growth = slope(
      warm.map((reading) => reading.minutes / 60),
      warm.map(({ mib }) => mib),
    );
    return [
      {
        what: `memory in the second half of ${last.minutes.toFixed(0)} minutes`,
        unit: 'MiB',
        rounds: warm.map(({ mib }) => mib),
      },
      {
        what: 'growth in that half, with two standard errors less and more',
        unit: 'MiB/h',
        rounds: [-2, 0, 2].map((errors) => growth.slope + errors * growth.error),
      },
      {
        what: 'evaluated',
        unit: 'locations/s',
        rounds: [last.locations / (last.minutes * 60)],
        target: `${locationsPerSecond}`,
      },
      { what: 'not yet evaluated', unit: 'locations', rounds: warm.map(({ backlogRecords }) => backlogRecords) },
    ];
  } finally {
    await server.dispose();
  }
}

/** A steady load for as long as `--minutes` says. */
export const memorySoakCase: BenchCase = {
  name: 'memory-soak',
  about: `${locationsPerSecond} locations a second, and the memory of the node; --minutes N`,
  isLong: true,
  run,
};

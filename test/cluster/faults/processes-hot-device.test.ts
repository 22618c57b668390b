/** One device that sends a thousand times as much as any other starves no device, in its own partition or in others. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { topics } from '../../../pipeline/ports.js';
import { codecs } from '../../../schemas/codecs.js';
import { until } from '../../../testing/until.js';
import { deliveredIds } from '../../ledger/deliveries.js';
import { differences } from '../../ledger/differences.js';
import { readTopic } from '../../ledger/ledger.js';
import { clusterSources } from '../../ledger/sources.js';
import { brokenByItself, everyLocationOnce } from '../../ledger/verdict.js';
import { buildWorkload, type Report } from '../../ledger/workload.js';
import { ok } from '../../support/client.js';
import type { TestCluster } from '../../support/cluster.js';
import { oneNode, type Running, run } from './run.js';

const timeout = 600_000;
const patience = { timeoutMs: 240_000 };
/** Duration of sending. */
const overMs = 8_000;
const endMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
const locationsPerDevice = 20;
const workload = buildWorkload(4, { devices: 40, locationsPerDevice }, endMs);

/**
 * The hot device walks among the fences of the others, but not home, and mostly stands still. It makes few events,
 * because a webhook gets the events of a device one after the other, and is not measured here.
 */
const walk = buildWorkload(5, { devices: 1, locationsPerDevice: 1_000 * locationsPerDevice + 1 }, endMs).devices[0]!;
const locationsPerPlace = 100;
const hot = walk.slice(0, -1).map(
  ({ updatedAtMs }, index): Report => ({
    ...walk[index - (index % locationsPerPlace)]!,
    deviceId: 'hot',
    updatedAtMs,
  }),
);
const uploads = 40;
/** Maximum number of records of a partition in one turn. */
const maxBatchRecords = 500;

/**
 * Sends a thousand times as many locations as the others in the same time. Resolves when all are evaluated, stored and
 * delivered.
 */
async function sendHot({ cluster, nodes, receiver, reached }: Running): Promise<void> {
  const startedAtMs = performance.now();
  const atOnce = hot.length / uploads;
  const secret = nodes.as('test_secret');
  for (let sent = 0; sent < hot.length; sent += atOnce) {
    const body = ok(await secret.bulk(hot.slice(sent, sent + atOnce)));
    expect(body).toMatchObject({ accepted: atOnce, rejected: 0 });
    await delay(Math.max(0, startedAtMs + (overMs * (sent + atOnce)) / hot.length - performance.now()));
  }
  await reached(1);
  const total = workload.devices.flat().length + hot.length;
  const { analytics, close } = await clusterSources(cluster.environment);
  try {
    const stored = async (table: 'locations' | 'events'): Promise<number> =>
      (await analytics.query<{ rows: number }>(`SELECT count() AS rows FROM ${table} FINAL`))[0]!.rows;
    const generated = () => nodes.metric('fenceline_events_generated_total');
    await until(async () => (await stored('locations')) >= total, patience);
    await until(async () => (await stored('events')) >= (await generated()), patience);
    await until(async () => deliveredIds(receiver).size >= (await generated()), patience);
  } finally {
    await close();
  }
}

/** A location and its place in the topics. */
interface Place {
  readonly device: string;
  readonly partition: number;
  /** Offset in topic `locations`. */
  readonly offset: number;
  /** When the location was appended, and when its outcome was, in epoch ms. */
  readonly acceptedAtMs: number;
  readonly evaluatedAtMs: number;
}

/** Returns all locations, in the order of their outcomes. */
async function placesIn(cluster: TestCluster): Promise<Place[]> {
  const sources = await clusterSources(cluster.environment);
  try {
    const accepted = new Map(
      (await readTopic(sources, topics.locations)).map((record) => [codecs.location.decode(record.value).id, record]),
    );
    return (await readTopic(sources, topics.outcomes)).map(({ value, timestamp }) => {
      const { location } = codecs.outcome.decode(value);
      const { partition, offset, timestamp: acceptedAtMs } = accepted.get(location.id)!;
      return { device: location.deviceId, partition, offset, acceptedAtMs, evaluatedAtMs: timestamp };
    });
  } finally {
    await sources.close();
  }
}

/** Runs the workload while `disturb` runs. */
async function runBeside(overMs: number, disturb: (running: Running) => Promise<void>) {
  let cluster: TestCluster | undefined;
  const { ledger, receiver } = await run({
    workload,
    // One process, so that the partitions compete for it.
    nodes: oneNode,
    environment: { FENCELINE_LOCATIONS_MAX_BATCH_RECORDS: String(maxBatchRecords) },
    overMs,
    disturb: async (running) => {
      cluster = running.cluster;
      await disturb(running);
    },
  });
  return { ledger, receiver, places: await placesIn(cluster!) };
}

const isHot = ({ device }: Place): boolean => device === 'hot';

function percentile95(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)]!;
}

it('is evaluated in turn with all other devices', { timeout }, async () => {
  const alone = await runBeside(0, async () => {});
  const beside = await runBeside(overMs, sendHot);

  expect(brokenByItself(beside, { repeatsInLog: true })).toEqual([]);
  const all = { ...workload, devices: [...workload.devices, hot] };
  expect(differences('locations', everyLocationOnce(all), beside.ledger.locations)).toEqual([]);
  const ofOthers = beside.ledger.events.filter((line) => !line.startsWith('hot '));
  expect(differences('events of others', alone.ledger.events, ofOthers)).toEqual([]);

  const hotPlaces = beside.places.filter(isHot);
  const hotPartition = hotPlaces[0]!.partition;
  const others = beside.places.filter((place) => !isHot(place));

  // In its partition, no later location of the hot device overtakes another location.
  const there = beside.places.filter(({ partition }) => partition === hotPartition);
  expect(there.some((place) => !isHot(place))).toBe(true);
  expect(there.map(({ offset }) => offset)).toEqual(there.map(({ offset }) => offset).toSorted((a, b) => a - b));

  // In other partitions, few locations of the hot device are evaluated while a location waits. The benchmarks measure
  // the actual delays.
  const overtaken = others
    .filter(({ partition }) => partition !== hotPartition)
    .map(({ acceptedAtMs, evaluatedAtMs }) => {
      const isMeanwhile = ({ evaluatedAtMs: atMs }: Place) => acceptedAtMs < atMs && atMs < evaluatedAtMs;
      return hotPlaces.filter(isMeanwhile).length;
    });
  console.log(`while a location waits, ${percentile95(overtaken)} of the hot device's ${hot.length} are evaluated`);
  expect(percentile95(overtaken)).toBeLessThan(hot.length / 2);
});

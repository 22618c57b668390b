/**
 * One device that sends a thousand times as much as any other starves nobody: neither in its own partition nor in
 * others.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { topics } from '../../../pipeline/ports.js';
import { codecs } from '../../../schemas/codecs.js';
import { until } from '../../../testing/until.js';
import { differences } from '../../ledger/differences.js';
import { readTopic } from '../../ledger/ledger.js';
import { clusterSources } from '../../ledger/sources.js';
import { brokenByItself, everyLocationOnce } from '../../ledger/verdict.js';
import { buildWorkload, type Report } from '../../ledger/workload.js';
import { ok } from '../../support/client.js';
import type { TestCluster } from '../../support/cluster.js';
import { type Running, run, twoNodes } from './run.js';

const timeout = 300_000;
/** Of sending. */
const overMs = 8_000;
const endMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
const locationsPerDevice = 20;
const workload = buildWorkload(4, { devices: 40, locationsPerDevice }, endMs);

/**
 * Walks among the fences of the others, but not home, and stands still for most of the time: the webhook gets a
 * device's events one after the other, and is not what is measured.
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

/** As fast as the others, and a thousand times as much. */
async function sendHot({ nodes }: Running): Promise<void> {
  const startedAtMs = performance.now();
  const atOnce = hot.length / uploads;
  for (let sent = 0; sent < hot.length; sent += atOnce) {
    const body = ok(await nodes.as('test_secret').bulk(hot.slice(sent, sent + atOnce)));
    expect(body).toMatchObject({ accepted: atOnce, rejected: 0 });
    await delay(Math.max(0, startedAtMs + (overMs * (sent + atOnce)) / hot.length - performance.now()));
  }
  await until(async () => (await nodes.node('first').metric('fenceline_location_backlog_records')) === 0);
}

interface Delay {
  readonly device: string | null;
  readonly partition: number;
  /** When its location was appended, epoch ms. */
  readonly sinceMs: number;
  readonly ms: number;
}

/** From the append of each location to that of its events. */
async function delaysIn(cluster: TestCluster): Promise<Delay[]> {
  const sources = await clusterSources(cluster.environment);
  try {
    const locations = await readTopic(sources, topics.locations);
    const acceptedAtMs = new Map(
      locations.map(({ value, timestamp }) => [codecs.location.decode(value).id, timestamp]),
    );
    return (await readTopic(sources, topics.events)).map(({ value, partition, timestamp }) => {
      const { locationId, user } = codecs.event.decode(value);
      const sinceMs = acceptedAtMs.get(locationId!)!;
      return { device: user!.deviceId, partition, sinceMs, ms: timestamp - sinceMs };
    });
  } finally {
    await sources.close();
  }
}

function percentile95(delays: readonly Delay[]): number {
  const sorted = delays.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)]!;
}

/** Runs the workload beside something else, and measures the delay of each event. */
async function measured(overMs: number, disturb: (running: Running) => Promise<void>) {
  let cluster: TestCluster | undefined;
  const { ledger, receiver } = await run({
    workload,
    nodes: twoNodes,
    overMs,
    disturb: async (running) => {
      cluster = running.cluster;
      await disturb(running);
    },
  });
  return { ledger, receiver, delays: await delaysIn(cluster!) };
}

const isHot = ({ device }: Delay): boolean => device === 'hot';

it('delivers the events of all other devices in time', { timeout, retry: 0 }, async () => {
  const alone = await measured(0, async () => {});
  const beside = await measured(overMs, sendHot);

  expect(brokenByItself(beside, { repeatsInLog: true })).toEqual([]);
  const all = { ...workload, devices: [...workload.devices, hot] };
  expect(differences('locations', everyLocationOnce(all), beside.ledger.locations)).toEqual([]);
  const ofOthers = beside.ledger.events.filter((line) => !line.startsWith('hot '));
  expect(differences('events of others', alone.ledger.events, ofOthers)).toEqual([]);

  const hotPartition = beside.delays.find(isHot)!.partition;
  const ofHot = beside.delays.filter(isHot);
  const hotMs =
    Math.max(...ofHot.map(({ sinceMs, ms }) => sinceMs + ms)) - Math.min(...ofHot.map(({ sinceMs }) => sinceMs));
  const others = beside.delays.filter((one) => !isHot(one));
  const elsewhere = percentile95(others.filter(({ partition }) => partition !== hotPartition));
  const besideHot = percentile95(others.filter(({ partition }) => partition === hotPartition));
  console.log(
    `95 of 100 events of others beside a hot device within ${elsewhere} ms, in its partition ${besideHot} ms; ` +
      `${ofHot.length} events of its own in ${hotMs} ms`,
  );
  // A starved device would wait until the hot device is done. The benchmarks measure the actual delays.
  expect(elsewhere).toBeLessThan(hotMs / 2);
  expect(besideHot).toBeLessThan(hotMs / 2);
});

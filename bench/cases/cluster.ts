/**
 * One pipeline process on Kafka, Redis and ClickHouse, with all acknowledgements. The services and the sender share its
 * cores.
 *
 * Drained: the backlog exists before the process starts; measured after its first tenth. Latency: from sending a
 * location to Kafka to reading its event from Kafka. Pause: the longest time without an event in any partition while a
 * consumer leaves or is killed and another one takes over; each partition has an event every 40 ms.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterBackend } from '../../backends/cluster/cluster.js';
import { topics } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { freshId, pairId } from '../../schemas/ids.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { exampleLocation } from '../../schemas/testing/examples.js';
import { kafka } from '../../testing/services/kafka.js';
import { lacking } from '../../testing/services/provider.js';
import { type BenchCase, type BenchOptions, percentile, type Row } from '../case.js';
import { BenchCluster, type BenchNode, type BenchProject, benchPartitions } from '../cluster.js';
import { processorSeconds } from '../usage.js';
import { type FenceMix, fences, wander } from '../workload.js';
import { deliveryRows, uploadRows } from './cluster-roles.js';

const devices = 20_000;
const locationsPerAppend = 2_000;
const mix: FenceMix = { count: 10_000, radiusM: 100, polygons: 0, vertices: () => 0, seed: 5 };

/** Devices whose every location enters or leaves a fence and so causes one event. */
const shuttles = 500;
const shuttleEveryMs = 5;
/** Far from the wandering devices. */
const gate: readonly [number, number] = [10, 10];

const encoded = (project: string, deviceId: string, longitude: number, latitude: number, occurredAt: number) => ({
  key: `${project}/test/${deviceId}`,
  value: codecs.location.encode(
    exampleLocation({
      id: freshId(),
      project,
      deviceId,
      longitude,
      latitude,
      accuracy_m: 10,
      occurredAt,
      receivedAt: Date.now(),
    }),
  ),
});

function* benchFences(count: number, project: string): Generator<GeofenceRecord> {
  for (const record of fences({ ...mix, count }, project)) {
    yield record;
    if (record.externalId !== '0') continue;
    yield {
      ...record,
      _id: pairId('geofence', project, 'test', 'bench', 'gate'),
      externalId: 'gate',
      center: [...gate],
    };
  }
}

async function appendBacklog(
  { log }: ClusterBackend,
  { id: project }: BenchProject,
  count: number,
  seed: number,
): Promise<void> {
  const fixes = wander(devices, seed);
  const startMs = Date.now() - 3_600_000;
  for (let appended = 0; appended < count; appended += locationsPerAppend) {
    const records = Array.from({ length: locationsPerAppend }, (_, index) => {
      const { device, longitude, latitude } = fixes.next().value;
      const occurredAt = startMs + Math.floor((appended + index) / devices) * 1_000;
      return encoded(project, `device-${seed}-${device}`, longitude, latitude, occurredAt);
    });
    await log.append(topics.locations, records);
  }
}

interface Drain {
  readonly perSecond: number;
  /** Processor time of the consumer per location, in microseconds. */
  readonly processorUs: number;
}

async function drain(cluster: BenchCluster, project: BenchProject, count: number, seed: number): Promise<Drain> {
  await appendBacklog(cluster.backend, project, count, seed);
  const node = await cluster.node('pipeline');
  while ((await cluster.backlog()) > count * 0.9) await delay(5);
  const [from, fromMs, usedS] = [await cluster.backlog(), performance.now(), processorSeconds(node.pid)];
  while ((await cluster.backlog()) > 0) await delay(5);
  const measured = {
    perSecond: (from / (performance.now() - fromMs)) * 1_000,
    processorUs: ((processorSeconds(node.pid) - usedS) * 1e6) / from,
  };
  await cluster.end(node);
  return measured;
}

interface Arrival {
  readonly partition: number;
  readonly latencyMs: number;
  readonly cameAtMs: number;
}

/** Sends the shuttles' locations at a constant rate while `during` runs, and returns when their events arrived. */
async function shuttle(
  { log }: ClusterBackend,
  { id: project }: BenchProject,
  during: () => Promise<unknown>,
): Promise<Arrival[]> {
  const sent = new Map<string, number>();
  const came: Arrival[] = [];
  const ends = await Promise.all(
    Array.from({ length: log.partitions(topics.events) }, (_, partition) => log.bounds(topics.events, partition)),
  );
  const subscription = log.consume({
    topic: topics.events,
    group: null,
    maxBatchRecords: 1_000,
    maxWaitMs: 0,
    handler: {
      assigned: async (partition) => ends[partition]!.end,
      revoked: async () => {},
      async records(partition, records) {
        const cameAtMs = performance.now();
        for (const { value } of records) {
          const { locationId } = codecs.event.decode(value as Buffer);
          const sentAtMs = sent.get(locationId!);
          // After a kill an event may be published again. It counts once.
          if (sentAtMs === undefined) continue;
          sent.delete(locationId!);
          came.push({ partition, latencyMs: cameAtMs - sentAtMs, cameAtMs });
        }
      },
    },
  });
  let isOver = false;
  const over = during().finally(() => {
    isOver = true;
  });
  const appends: Promise<void>[] = [];
  const startedMs = performance.now();
  const startMs = Date.now();
  for (let index = 0; !isOver; index++) {
    const dueMs = startedMs + index * shuttleEveryMs;
    if (dueMs > performance.now() + 1) await delay(dueMs - performance.now());
    const isInside = Math.floor(index / shuttles) % 2 === 0;
    const record = encoded(
      project,
      `shuttle-${startMs}-${index % shuttles}`,
      gate[0],
      gate[1] + (isInside ? 0 : 0.1),
      startMs + index,
    );
    sent.set(codecs.location.decode(record.value).id, dueMs);
    appends.push(log.append(topics.locations, [record]));
  }
  await over;
  await Promise.all(appends);
  while (sent.size > 0) await delay(10);
  await subscription.close();
  return came;
}

/** Returns the longest time after `fromMs` without an event in one of the partitions. */
function longestPause(came: readonly Arrival[], fromMs: number): number {
  const pauses = Array.from({ length: benchPartitions }, (_, partition) => {
    const arrivals = came.filter((arrival) => arrival.partition === partition && arrival.cameAtMs > fromMs);
    const times = [fromMs, ...arrivals.map(({ cameAtMs }) => cameAtMs)].sort((a, b) => a - b);
    return times.reduce((longest, atMs, index) => Math.max(longest, atMs - (times[index - 1] ?? atMs)), 0);
  });
  return Math.max(...pauses);
}

async function takeOver(
  cluster: BenchCluster,
  project: BenchProject,
  leave: (node: BenchNode) => Promise<unknown>,
): Promise<number> {
  const [leaving, staying] = [await cluster.node('pipeline'), await cluster.node('pipeline')];
  let leftMs = 0;
  const came = await shuttle(cluster.backend, project, async () => {
    await delay(settleMs);
    leftMs = performance.now();
    await leave(leaving);
    await delay(takeOverMs);
  });
  await staying.stop();
  return longestPause(came, leftMs);
}

/** Enough time for both nodes to join and share the partitions. */
const settleMs = 5_000;
/** Longer than a session of the consumer group. */
const takeOverMs = 12_000;

/** Measures how fast one process drains a backlog. */
async function drainRows(cluster: BenchCluster, project: BenchProject, smoke: boolean): Promise<Row[]> {
  const count = smoke ? 20_000 : 400_000;
  const drains: Drain[] = [];
  for (let round = 0; round < (smoke ? 1 : 4); round++) drains.push(await drain(cluster, project, count, 20 + round));
  // The first round warms up the services.
  const counted = smoke ? drains : drains.slice(1);
  return [
    {
      what: 'backlog drained by one process, 10 k circles',
      unit: 'locations/s',
      rounds: counted.map(({ perSecond }) => perSecond),
      target: '>= 40,000',
    },
    {
      what: 'processor time of that process',
      unit: 'µs/location',
      rounds: counted.map(({ processorUs }) => processorUs),
      target: '<= 12',
    },
  ];
}

/** Measures the time from a location to its event. */
async function latencyRows(cluster: BenchCluster, project: BenchProject, smoke: boolean): Promise<Row[]> {
  const node = await cluster.node('pipeline');
  await shuttle(cluster.backend, project, () => delay(smoke ? 1_000 : 5_000));
  const rounds: number[][] = [];
  for (let round = 0; round < (smoke ? 1 : 3); round++) {
    const came = await shuttle(cluster.backend, project, () => delay(smoke ? 1_000 : 15_000));
    rounds.push(came.map(({ latencyMs }) => latencyMs));
  }
  await cluster.end(node);
  return [
    { what: 'produce to event, p50', unit: 'ms', rounds: rounds.map((latencies) => percentile(latencies, 0.5)) },
    { what: 'produce to event, p99', unit: 'ms', rounds: rounds.map((latencies) => percentile(latencies, 0.99)) },
  ];
}

/** Measures how long a partition stands still when its consumer ends. */
async function pauseRows(cluster: BenchCluster, project: BenchProject): Promise<Row[]> {
  return [
    {
      what: 'pause of a partition whose consumer leaves',
      unit: 'ms',
      rounds: [await takeOver(cluster, project, (each) => each.stop())],
    },
    {
      what: 'pause of one whose consumer is killed, session 6 s',
      unit: 'ms',
      rounds: [await takeOver(cluster, project, (each) => each.kill())],
    },
  ];
}

async function run({ smoke }: BenchOptions): Promise<Row[]> {
  const missing = await lacking(kafka);
  if (missing) {
    console.log(`left out: ${missing}`);
    return [];
  }
  const cluster = await BenchCluster.start({ sharesNodes: smoke });
  try {
    const project = await cluster.configure((id) => benchFences(smoke ? 1_000 : mix.count, id));
    return [
      ...(await drainRows(cluster, project, smoke)),
      ...(await latencyRows(cluster, project, smoke)),
      ...(await uploadRows(cluster, project, smoke ? 4_000 : 200_000, smoke ? 1 : 3)),
      ...(await deliveryRows(cluster, project)),
      ...(smoke ? [] : await pauseRows(cluster, project)),
    ];
  } finally {
    await cluster.dispose();
  }
}

/** One consumer of a cluster. */
export const clusterCase: BenchCase = {
  name: 'cluster',
  about: 'one consumer on Kafka, Redis and ClickHouse on this machine',
  run,
};

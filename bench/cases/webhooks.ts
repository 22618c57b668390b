/**
 * Webhooks from accepting the location to the request at the receiver, with all parts running: latency by rate,
 * throughput by number of endpoints, the effect of dead endpoints on others, and the memory of a million pending
 * deliveries.
 *
 * Each device enters and leaves one fence, so every location causes one event. Each fence belongs to one webhook, so
 * there is one delivery per location. The receivers are a thread of this process, on the same cores.
 */
import type { SecretCipher } from '../../pipeline/encryption.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { WebhookRecord } from '../../schemas/json/webhook.js';
import { grouped } from '../../schemas/wording.js';
import { type BenchCase, type BenchOptions, percentile, type Row } from '../case.js';
import { type BenchReceiver, startReceiver } from '../receiver.js';
import { BenchServer } from '../server.js';
import { benchWebhook } from '../webhook.js';
import { fences } from '../workload.js';

const devices = 20_000;
const environment = {
  FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
  FENCELINE_INGEST_MAX_BACKLOG_RECORDS: '1000000',
};

/** Returns the path of an endpoint by its number. */
type PathOf = (endpoint: number) => string;
const healthy: PathOf = () => '/';

const tagOf = (endpoint: number): string => `endpoint-${endpoint}`;

/** One fence per endpoint, far from each other, tagged with the endpoint's number. */
function* fencesFor(endpoints: number, project: string): Generator<GeofenceRecord> {
  let index = 0;
  for (const fence of fences({ count: endpoints, radiusM: 50, polygons: 0, vertices: () => 0, seed: 3 }, project)) {
    const center = placeOf(index);
    yield { ...fence, center, tag: tagOf(index) };
    index += 1;
  }
}

/** Returns [longitude, latitude] on a grid of 0.01 degrees. */
const placeOf = (endpoint: number): [number, number] => [
  -120 + (endpoint % 200) * 0.01,
  30 + Math.floor(endpoint / 200) * 0.01,
];

/** Each endpoint is a separate host: 127.x.y.z. */
function* webhooksFor(
  endpoints: number,
  port: number,
  pathOf: PathOf,
  project: string,
  secretCipher: SecretCipher,
): Generator<WebhookRecord> {
  for (let endpoint = 0; endpoint < endpoints; endpoint++) {
    const host = `127.${1 + (endpoint >> 16)}.${(endpoint >> 8) & 255}.${endpoint & 255}`;
    yield benchWebhook(secretCipher, {
      name: String(endpoint),
      secretByte: endpoint,
      project,
      url: `http://${host}:${port}${pathOf(endpoint)}`,
      createdAt: endpoint + 1,
      tags: [tagOf(endpoint)],
    });
  }
}

interface Setup {
  readonly server: BenchServer;
  readonly receiver: BenchReceiver;
  readonly endpoints: number;
  readonly crossings: Crossings;
}

async function withEndpoints<T>(
  endpoints: number,
  pathOf: PathOf,
  use: (setup: Setup) => Promise<T>,
  areEnabled = true,
): Promise<T> {
  const receiver = await startReceiver();
  const server = await BenchServer.configured(
    (project) => fencesFor(endpoints, project),
    (project, secretCipher) => webhooksFor(areEnabled ? endpoints : 0, receiver.port, pathOf, project, secretCipher),
    environment,
  );
  try {
    return await use({ server, receiver, endpoints, crossings: new Crossings(endpoints) });
  } finally {
    await server.dispose();
    await receiver.close();
  }
}

/** Creates bulk bodies in which each location crosses the boundary of its device's fence. */
class Crossings {
  readonly #endpoints: number;
  #made = 0;

  constructor(endpoints: number) {
    this.#endpoints = endpoints;
  }

  body(lines: number): string {
    return Array.from({ length: lines }, () => this.#line()).join('');
  }

  #line(): string {
    const device = this.#made % devices;
    const isInside = Math.floor(this.#made / devices) % 2 === 0;
    this.#made += 1;
    const [longitude, south] = placeOf(device % this.#endpoints);
    const latitude = south + (isInside ? 0 : 0.004);
    return `${JSON.stringify({ deviceId: `device-${device}`, longitude, latitude, accuracy: 5, foreground: true })}\n`;
  }
}

const ticksPerSecond = 50;

/** Sends `perSecond` locations on schedule; resolves when all are acknowledged. */
async function drive({ server, crossings }: Setup, perSecond: number, seconds: number): Promise<void> {
  const answers: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let tick = 0; tick < seconds * ticksPerSecond; tick++) {
    const early = startedAt + (tick * 1_000) / ticksPerSecond - performance.now();
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
    answers.push(server.upload(crossings.body(perSecond / ticksPerSecond)));
  }
  await Promise.all(answers);
}

/** Resolves when at least `requests` were received, or when nothing arrived for ten seconds. */
async function received(receiver: BenchReceiver, requests: number): Promise<{ latenciesMs: number[]; all: boolean }> {
  const latenciesMs: number[] = [];
  let count = 0;
  let latestAt = performance.now();
  while (count < requests && performance.now() - latestAt < 10_000) {
    const snapshot = await receiver.snapshot();
    if (snapshot.requests > 0) latestAt = performance.now();
    count += snapshot.requests;
    for (const latency of snapshot.latenciesMs) latenciesMs.push(latency);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { latenciesMs, all: count >= requests };
}

async function latencies(setup: Setup, rates: readonly number[], count: number, seconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  await drive(setup, 500, seconds);
  await received(setup.receiver, 500 * seconds);
  for (const rate of rates) {
    const rounds: number[][] = [];
    for (let round = 0; round < count; round++) {
      const arriving = received(setup.receiver, rate * seconds);
      await drive(setup, rate, seconds);
      rounds.push((await arriving).latenciesMs);
    }
    for (const share of [0.5, 0.99]) {
      const what = `accepted to request out, ${rate}/s: p${share * 100}`;
      rows.push({ what, unit: 'ms', rounds: rounds.map((round) => percentile(round, share)) });
    }
  }
  return rows;
}

/** Measures the deliveries per second when more are pending than can be sent. */
async function throughput(setup: Setup, roundCount: number, count: number): Promise<Row> {
  const { server, receiver, endpoints, crossings } = setup;
  const lines = 1_000;
  const rounds: number[] = [];
  // The first round warms up.
  for (let round = 0; round <= roundCount; round++) {
    const startedAt = performance.now();
    const arriving = received(receiver, count);
    for (let sent = 0; sent < count; sent += lines) await server.upload(crossings.body(lines));
    if (!(await arriving).all) throw new Error('deliveries are missing');
    if (round > 0) rounds.push((count / (performance.now() - startedAt)) * 1_000);
  }
  return { what: `deliveries to ${endpoints} endpoints`, unit: 'requests/s', rounds };
}

/**
 * Compares the p99 of the healthy among 200 endpoints when two never answer with the p99 when all answer. Two servers
 * run at the same time, so that other load on the machine affects both.
 */
async function deadOnes(seconds: number): Promise<Row[]> {
  const endpoints = 200;
  const dead = endpoints / 100;
  const rate = 250;
  const p99 = async (setup: Setup, answering: number): Promise<number> => {
    const arriving = received(setup.receiver, (rate * seconds * answering) / endpoints);
    await drive(setup, rate, seconds);
    return percentile((await arriving).latenciesMs, 0.99);
  };
  const without: number[] = [];
  const withDead: number[] = [];
  await withEndpoints(endpoints, healthy, (all) =>
    withEndpoints(
      endpoints,
      (endpoint) => (endpoint < dead ? '/dead' : '/'),
      async (others) => {
        for (let round = 0; round < 8; round++) {
          const [ofAll, ofOthers] = await Promise.all([p99(all, endpoints), p99(others, endpoints - dead)]);
          without.push(ofAll);
          withDead.push(ofOthers);
        }
      },
    ),
  );
  // The first rounds warm up.
  return [
    { what: 'p99 of 200 endpoints', unit: 'ms', rounds: without.slice(1) },
    { what: 'p99 of the healthy, 1 % dead', unit: 'ms', rounds: withDead.slice(1), target: '<= 1.1 times that' },
  ];
}

/** Returns the private memory of the server after `count` events, for no webhook or for one that refuses them all. */
async function memoryAfter(count: number, isWanted: boolean): Promise<number> {
  return withEndpoints(
    1,
    () => '/refuse',
    async ({ server, crossings }) => {
      const counter = isWanted ? 'webhook_deliveries_total' : 'events_generated_total';
      for (let sent = 0; sent < count; sent += 2_000) await server.upload(crossings.body(2_000));
      while ((await server.counter(counter)) < count) await new Promise((resolve) => setTimeout(resolve, 100));
      return server.anonymousMemoryBytes() / 2 ** 20;
    },
    isWanted,
  );
}

/** Measures the memory of a long queue. */
export const waitingDeliveriesCase: BenchCase = {
  name: 'waiting-deliveries',
  about: 'memory of the server with a million pending deliveries, and without',
  isLong: true,
  async run({ smoke }: BenchOptions) {
    const count = smoke ? 2_000 : 1_000_000;
    const row = async (what: string, isWanted: boolean): Promise<Row> => ({
      what: `${grouped(count)} events, ${what}`,
      unit: 'MiB',
      rounds: [await memoryAfter(count, isWanted)],
    });
    return [await row('none for a webhook', false), await row('all pending for one that refuses them', true)];
  },
};

/** Latency, throughput and memory of deliveries. */
export const webhooksCase: BenchCase = {
  name: 'webhooks',
  about: 'from accepting the location to the request at the webhook',
  async run({ smoke }: BenchOptions) {
    if (smoke) {
      return withEndpoints(10, healthy, async (setup) => [
        ...(await latencies(setup, [100], 1, 0.2)),
        await throughput(setup, 1, 1_000),
      ]);
    }
    const rounds = 3;
    const rows = await withEndpoints(100, healthy, (setup) => latencies(setup, [100, 500, 1_000, 2_000], rounds, 6));
    for (const endpoints of [1, 100, 10_000]) {
      rows.push(await withEndpoints(endpoints, healthy, (setup) => throughput(setup, rounds, 20_000)));
    }
    rows.push(...(await deadOnes(10)));
    return rows;
  },
};

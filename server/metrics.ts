/**
 * Prometheus metrics of a node. Each thread has a registry, and /metrics aggregates them.
 *
 * Modules declare their metrics as data. They become counters, gauges and histograms named `fenceline_…` here.
 */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ClientObserver } from '../backends/cluster/client-observer.js';
import type { RequestObserver } from '../http/answers/access-log.js';
import type { CacheUse, ObserveCache } from '../pipeline/cache-use.js';
import { isPortError, PortError } from '../pipeline/errors.js';
import { withinMs } from '../pipeline/time-limit.js';
import type { MetricDefinition } from '../schemas/metric-definition.js';
import { version } from './version.js';

/** Metrics that only a node of a cluster has. */
export const clusterMetrics = {
  dependency_errors_total: {
    kind: 'counter',
    help: 'Errors of Kafka, Redis, ClickHouse or the registry that were retried. A few per broker restart are normal.',
  },
  dependency_refusals_total: {
    kind: 'counter',
    label: 'service',
    help:
      'Answers of Kafka or Redis that serve no process, because replicas are away or memory is full, by service. ' +
      'Also requests for an unknown schema that the registry did not answer. Stages wait for as long as they come.',
  },
} as const;

/** Metrics of the clients of Kafka, Redis and ClickHouse, which only a node of a cluster has. */
export const serviceMetrics = {
  service_request_seconds: {
    kind: 'histogram',
    labels: ['service', 'operation'],
    help:
      'Time of a request to Kafka, Redis or ClickHouse, by service and operation. ' +
      'Some requests to Kafka wait for records or for other members of a group: Fetch, JoinGroup, SyncGroup.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  },
  service_request_errors_total: {
    kind: 'counter',
    labels: ['service', 'operation'],
    help:
      'Requests to Kafka, Redis or ClickHouse that failed or were not answered, by service and operation. ' +
      'An attempt to connect to Kafka is a request, too: Connect.',
  },
  service_requests_in_flight: {
    kind: 'gauge',
    labels: ['service'],
    help: 'Requests to Kafka, Redis or ClickHouse that wait for their answer, by service.',
  },
  service_connections: {
    kind: 'gauge',
    labels: ['service'],
    help: 'Open connections to Kafka, Redis or ClickHouse, by service.',
  },
} as const;

/** Metrics of role api. */
export const apiMetrics = {
  maps_rendered_total: {
    kind: 'counter',
    label: 'result',
    help: 'Static maps by result: drawn, refused, failed, or abandoned by the client while they waited.',
  },
  map_render_seconds: {
    kind: 'histogram',
    help: 'Time from accepting a static map until it is drawn, with the time that it waited.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  maps_rendering: { kind: 'gauge', help: 'Static maps that wait or are being drawn.' },
  event_streams_open: { kind: 'gauge', help: 'Open live streams and long polls of events.' },
  event_streams_dropped_total: {
    kind: 'counter',
    help: 'Live streams that were closed because their client read too slowly. It resumes with its last id.',
  },
  mails_total: {
    kind: 'counter',
    label: 'result',
    help: 'Mails by result: sent, written to the outbox folder, or why they failed after the last attempt.',
  },
  imports_total: {
    kind: 'counter',
    label: 'result',
    help: 'Imports that have ended, without dry runs, by result: completed, failed or interrupted.',
  },
  import_rows_total: {
    kind: 'counter',
    label: 'result',
    help: 'Rows of imports that have ended, without dry runs, by result: created, updated, unchanged or rejected.',
  },
  sync_runs_total: {
    kind: 'counter',
    label: 'result',
    help: 'Runs of syncs that have ended, by result: succeeded, failed or interrupted.',
  },
} as const;

/** Records metrics. The interface of a module lists its names. */
export interface Recorder {
  add(counter: string, amount: number, label?: string): void;
  observe(histogram: string, value: number): void;
}

const prefixed = (name: string): string => `fenceline_${name}`;

/** Registers the declared metrics. */
export function createRecorder(definitions: Readonly<Record<string, MetricDefinition>>, registry: Registry): Recorder {
  const counters = new Map<string, { counter: Counter | Gauge; label: string | undefined }>();
  const histograms = new Map<string, Histogram>();
  for (const [name, { kind, help, label, values = [], buckets }] of Object.entries(definitions)) {
    const options = {
      name: prefixed(name),
      help,
      registers: [registry],
      labelNames: label === undefined ? [] : [label],
    };
    if (kind === 'counter') counters.set(name, { counter: new Counter(options), label });
    else if (kind === 'gauge') counters.set(name, { counter: new Gauge(options), label });
    else histograms.set(name, new Histogram({ ...options, buckets: [...(buckets ?? [])] }));
    for (const value of values) counters.get(name)?.counter.inc({ [label as string]: value }, 0);
  }
  return {
    add(name, amount, value) {
      const { counter, label } = counters.get(name) as { counter: Counter | Gauge; label: string | undefined };
      if (label === undefined || value === undefined) counter.inc(amount);
      else counter.inc({ [label]: value }, amount);
    },
    observe(name, value) {
      (histograms.get(name) as Histogram).observe(value);
    },
  };
}

/**
 * Interval of the timer that measures the delay of the event loop; an idle loop has this delay. With prom-client's
 * 10 ms an idle node wakes 100 times a second, which is a sixth of its processor time.
 */
const eventLoopMonitoringPrecision = 50;

/**
 * Creates a registry with metrics of the process: build, memory, processor time, event loop lag, garbage collection.
 */
export function createProcessRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision });
  // They are gauges, whose name must not end with total. Those without this end count by type.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`);
  // The library leaves it out where the metrics of threads are aggregated.
  registry.removeSingleMetric('process_start_time_seconds');
  const startedAtS = Math.round(performance.timeOrigin / 1_000);
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    registers: [registry],
  }).set(startedAtS);
  new Gauge({
    name: prefixed('build_info'),
    help: 'Always 1. Its labels are the version of Fenceline and the version of Node.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  }).set({ version, node_version: process.versions.node }, 1);
  return registry;
}

/**
 * Time limit of a source that is read on each scrape. Prometheus waits ten seconds by default, and then has none of the
 * metrics and reports the process as down.
 */
const readLimitMs = 2_000;

const readInTime = <T>(read: () => Promise<T>): Promise<T> =>
  withinMs(readLimitMs, read(), () => new PortError('unavailable', 'the source of a metric does not answer'));

/**
 * Registers a gauge that is read on each scrape. If its source is unavailable or slow, the value is NaN, and the other
 * metrics are still answered.
 */
export function addGauge(
  registry: Registry,
  { name, help, read }: { name: string; help: string; read: () => Promise<number> },
): void {
  new Gauge({
    name: prefixed(name),
    help,
    registers: [registry],
    async collect() {
      this.set(await readInTime(read).catch(nanIfUnavailable));
    },
  });
}

/** The gauge of slow streams. Its threshold is that of `EventStream.isSlow`. */
export const slowStreams = {
  name: 'event_streams_slow',
  help: 'Live streams whose client has more than 64 KiB still to read.',
} as const;

/**
 * Registers a gauge with a value for each partition, read on each scrape. It has no values while its source is away or
 * slow.
 */
export function addPartitionGauge(
  registry: Registry,
  { name, help, read }: { name: string; help: string; read: () => Promise<readonly number[]> },
): void {
  new Gauge({
    name: prefixed(name),
    help,
    labelNames: ['partition'],
    registers: [registry],
    async collect() {
      this.reset();
      const values = await readInTime(read).catch((error: unknown) => {
        nanIfUnavailable(error);
        return [];
      });
      for (const [partition, value] of values.entries()) this.set({ partition }, value);
    },
  });
}

function nanIfUnavailable(error: unknown): number {
  if (isPortError(error, 'unavailable')) return Number.NaN;
  throw error;
}

const cacheMetrics = {
  cache_hits_total: { kind: 'counter', help: 'Lookups that a cache answered, by cache.' },
  cache_misses_total: { kind: 'counter', help: 'Lookups that a cache could not answer, by cache.' },
  cache_entries: { kind: 'gauge', help: 'Entries of a cache, by cache.' },
  cache_bytes: { kind: 'gauge', help: 'Size of a cache whose limit is in bytes, by cache.' },
} as const;

const cachesOf = new WeakMap<Registry, Map<string, () => CacheUse>>();

/** Registers the metrics `cache_…`, once for each registry. Returns what caches report their use to. */
export function observeCaches(registry: Registry): ObserveCache {
  const caches = cachesOf.get(registry) ?? new Map<string, () => CacheUse>();
  if (!cachesOf.has(registry)) {
    cachesOf.set(registry, caches);
    addCacheMetrics(registry, caches);
  }
  return (name, read) => void caches.set(name, read);
}

function addCacheMetrics(registry: Registry, caches: ReadonlyMap<string, () => CacheUse>): void {
  const readings = {
    cache_hits_total: ({ hits }) => hits,
    cache_misses_total: ({ misses }) => misses,
    cache_entries: ({ entries }) => entries,
    cache_bytes: ({ bytes }) => bytes,
  } as const satisfies Record<keyof typeof cacheMetrics, (use: CacheUse) => number | undefined>;
  for (const [name, { kind, help }] of Object.entries(cacheMetrics)) {
    const Metric = kind === 'counter' ? Counter : Gauge;
    new Metric({
      name: prefixed(name),
      help,
      labelNames: ['cache'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [cache, read] of caches) {
          const value = readings[name as keyof typeof cacheMetrics](read());
          if (value !== undefined) this.inc({ cache }, value);
        }
      },
    });
  }
}

/** How the clients of the services report what they do, by service. */
interface ServiceObservers {
  readonly kafka: ClientObserver;
  readonly redis: ClientObserver;
  readonly clickhouse: ClientObserver;
}

/** Creates the observers of a node of a cluster, which record the metrics `service_…`. */
export function createServiceObservers(registry: Registry): ServiceObservers {
  const optionsOf = (name: keyof typeof serviceMetrics) => ({
    name: prefixed(name),
    help: serviceMetrics[name].help,
    labelNames: [...serviceMetrics[name].labels],
    registers: [registry],
  });
  const { buckets } = serviceMetrics.service_request_seconds;
  const seconds = new Histogram({ ...optionsOf('service_request_seconds'), buckets: [...buckets] });
  const errors = new Counter(optionsOf('service_request_errors_total'));
  const inFlight = new Gauge(optionsOf('service_requests_in_flight'));
  const connections = new Gauge(optionsOf('service_connections'));
  const observerOf = (service: string): ClientObserver => ({
    started(operation) {
      const startedAtMs = performance.now();
      inFlight.inc({ service });
      return (hasFailed) => {
        inFlight.dec({ service });
        seconds.observe({ service, operation }, (performance.now() - startedAtMs) / 1_000);
        if (hasFailed) errors.inc({ service, operation });
      };
    },
    connections: (change) => connections.inc({ service }, change),
  });
  return { kafka: observerOf('kafka'), redis: observerOf('redis'), clickhouse: observerOf('clickhouse') };
}

/** Adds the histogram of requests to the registry. Returns the function that observes one. */
export function createRequestObserver(registry: Registry): RequestObserver {
  const durations = new Histogram({
    name: prefixed('http_request_seconds'),
    help: 'Time from receiving a request to the end of its response, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return ({ method, route, status, durationMs }) =>
    durations.observe({ method, route, status: `${status}` }, durationMs / 1_000);
}

/** Aggregates the registry of this thread and the JSON of other threads' registries into Prometheus text. */
export async function exposition(registry: Registry, others: readonly object[][]): Promise<string> {
  return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...others]).metrics();
}

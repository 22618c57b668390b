/**
 * Prometheus metrics of a node: each thread counts into a registry of its own, and /metrics puts them together.
 *
 * Rooms declare their metrics as data; here they become counters and histograms named `fenceline_…`.
 */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestObserver } from '../http/answers/access-log.js';
import { isPortError } from '../pipeline/errors.js';

interface Definition {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly label?: string;
  readonly buckets?: readonly number[];
}

/** What rooms count with; a room's own interface names which metrics there are. */
export interface Recorder {
  add(counter: string, amount: number, label?: string): void;
  observe(histogram: string, value: number): void;
}

const prefixed = (name: string): string => `fenceline_${name}`;

/** Adds the declared metrics to a registry. */
export function createRecorder(definitions: Readonly<Record<string, Definition>>, registry: Registry): Recorder {
  const counters = new Map<string, { counter: Counter | Gauge; label: string | undefined }>();
  const histograms = new Map<string, Histogram>();
  for (const [name, { kind, help, label, buckets }] of Object.entries(definitions)) {
    const options = {
      name: prefixed(name),
      help,
      registers: [registry],
      labelNames: label === undefined ? [] : [label],
    };
    if (kind === 'counter') counters.set(name, { counter: new Counter(options), label });
    else if (kind === 'gauge') counters.set(name, { counter: new Gauge(options), label });
    else histograms.set(name, new Histogram({ ...options, buckets: [...(buckets ?? [])] }));
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

/** A registry that also has the process's own metrics: memory, processor time, event loop lag, garbage collection. */
export function createProcessRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * A value that is asked for whenever metrics are. While where it is asked of is out of reach it is no number, and the
 * other metrics are answered.
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
      this.set(await read().catch(noNumberInAnOutage));
    },
  });
}

function noNumberInAnOutage(error: unknown): number {
  if (isPortError(error, 'unavailable')) return Number.NaN;
  throw error;
}

export function createRequestObserver(registry: Registry): RequestObserver {
  const durations = new Histogram({
    name: prefixed('http_request_ms'),
    help: 'Milliseconds from receiving a request to the end of its response, by method, route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000],
    registers: [registry],
  });
  return ({ method, route, status, durationMs }) =>
    durations.observe({ method, route, status: `${status}` }, durationMs);
}

/** The Prometheus text of this thread's registry and of what other threads' registries answered as JSON. */
export async function exposition(registry: Registry, others: readonly object[][]): Promise<string> {
  return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...others]).metrics();
}

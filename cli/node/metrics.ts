/**
 * Prometheus metrics of a node: each thread counts into a registry of its own, and /metrics puts them together.
 *
 * Names are `fenceline_` and the name in `stageMetrics`.
 */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Metrics, stageMetrics } from '../../pipeline/stages/metrics.js';

const prefixed = (name: string): string => `fenceline_${name}`;

/** The stages' metrics in a registry. */
export function createStageMetrics(registry: Registry): Metrics {
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  const labels = new Map<string, string>();
  for (const [name, definition] of Object.entries(stageMetrics)) {
    const label = 'label' in definition ? definition.label : undefined;
    const options = { name: prefixed(name), help: definition.help, registers: [registry], labelNames: label ? [label] : [] };
    if (label) labels.set(name, label);
    if (definition.kind === 'counter') counters.set(name, new Counter(options));
    else histograms.set(name, new Histogram({ ...options, buckets: [...definition.buckets] }));
  }
  return {
    add(name, amount, value) {
      const label = labels.get(name);
      const counter = counters.get(name) as Counter;
      if (label === undefined || value === undefined) counter.inc(amount);
      else counter.inc({ [label]: value }, amount);
    },
    observe(name, value) {
      (histograms.get(name) as Histogram).observe(value);
    },
  };
}

/** What the main thread counts of requests. */
export function createRequestMetrics(registry: Registry) {
  const durations = new Histogram({
    name: prefixed('http_request_ms'),
    help: 'Milliseconds from a request to the end of its answer, by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000],
    registers: [registry],
  });
  const locations = new Counter({
    name: prefixed('locations_received_total'),
    help: 'Locations by what ingest did with them: accepted (durable) or rejected.',
    labelNames: ['result'],
    registers: [registry],
  });
  return { durations, locations };
}

export interface GaugeDefinition {
  readonly name: string;
  readonly help: string;
  read(): Promise<number> | number;
}

/** A registry with the process's own metrics (memory, event loop, garbage collection) and the given gauges. */
export function createProcessRegistry(gauges: readonly GaugeDefinition[]): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name, help, read } of gauges) {
    new Gauge({
      name: prefixed(name),
      help,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  }
  return registry;
}

/** The Prometheus text of this thread's registry and what other threads' registries answered as JSON. */
export async function exposition(registry: Registry, others: readonly object[]): Promise<string> {
  return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...others] as object[][]).metrics();
}

import eventLoop from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ingestMetrics } from '../ingest/metrics.js';
import { stageMetrics } from '../pipeline/stages/metrics.js';
import {
  addGauge,
  addPartitionGauge,
  createProcessRegistry,
  createRecorder,
  createServiceObservers,
  exposition,
  observeCaches,
} from './metrics.js';

/** Returns the lines of the metric that have values. */
const valuesOf = async (registry: Registry, name: string): Promise<string[]> =>
  (await registry.metrics()).split('\n').filter((line) => line.startsWith(`fenceline_${name}`));

describe('the metrics of caches', () => {
  test('are read from the caches, and registered once for all modules of a process', async () => {
    const registry = new Registry();
    let hits = 3;
    observeCaches(registry)('device_states', () => ({ hits, misses: 1, entries: 2 }));
    observeCaches(registry)('map_files', () => ({ hits: 0, misses: 0, entries: 1, bytes: 500 }));
    hits = 4;
    expect(await valuesOf(registry, 'cache_hits_total')).toEqual([
      'fenceline_cache_hits_total{cache="device_states"} 4',
      'fenceline_cache_hits_total{cache="map_files"} 0',
    ]);
    expect(await valuesOf(registry, 'cache_bytes')).toEqual(['fenceline_cache_bytes{cache="map_files"} 500']);
  });
});

describe('the metrics of services', () => {
  test('count requests, failures, requests in flight and connections', async () => {
    const registry = new Registry();
    const { kafka, redis } = createServiceObservers(registry);
    kafka.connections(1);
    kafka.connections(1);
    kafka.connections(-1);
    const end = kafka.started('Produce');
    redis.started('evalsha')(true);
    expect(await valuesOf(registry, 'service_requests_in_flight')).toEqual([
      'fenceline_service_requests_in_flight{service="kafka"} 1',
      'fenceline_service_requests_in_flight{service="redis"} 0',
    ]);
    end(false);
    expect(await valuesOf(registry, 'service_request_seconds_count')).toEqual([
      'fenceline_service_request_seconds_count{service="redis",operation="evalsha"} 1',
      'fenceline_service_request_seconds_count{service="kafka",operation="Produce"} 1',
    ]);
    expect(await valuesOf(registry, 'service_request_errors_total')).toEqual([
      'fenceline_service_request_errors_total{service="redis",operation="evalsha"} 1',
    ]);
    expect(await valuesOf(registry, 'service_connections')).toEqual([
      'fenceline_service_connections{service="kafka"} 1',
    ]);
  });
});

test('the delay of the event loop is measured rarely, so that an idle node seldom wakes', () => {
  // The timer itself shows nothing reliable: on a busy machine it is late, and the next one then follows sooner.
  const monitor = vi.spyOn(eventLoop, 'monitorEventLoopDelay');
  onTestFinished(() => monitor.mockRestore());
  createProcessRegistry();
  expect(monitor.mock.calls).toEqual([[{ resolution: 50 }]]);
});

// While Kafka was away, each scrape of an ingest node took ten seconds. Prometheus gives up after as long, so it
// reported the node as down, and had none of the metrics that tell what is wrong.
test('regression: a source that does not answer delays a scrape for two seconds only', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const registry = new Registry();
  const never = () => new Promise<never>(() => {});
  addGauge(registry, { name: 'backlog', help: 'Waiting.', read: never });
  addPartitionGauge(registry, { name: 'partition_backlog', help: 'Waiting.', read: never });
  addGauge(registry, { name: 'in_order', help: 'Answers.', read: async () => 7 });
  const answer = exposition(registry, []);
  await vi.advanceTimersByTimeAsync(2_000);
  const values = (await answer).split('\n').filter((line) => line.startsWith('fenceline_'));
  expect(values).toEqual(['fenceline_backlog Nan', 'fenceline_in_order 7']);
});

// The library leaves it out where it aggregates the metrics of threads. Restarts were counted by processor time, which
// may be higher after a restart than before it.
test('regression: the start of the process is exposed', async () => {
  const [line] = (await exposition(createProcessRegistry(), []))
    .split('\n')
    .filter((line) => line.startsWith('process_start_time_seconds '));
  expect(Number(line?.split(' ')[1])).toBeCloseTo(performance.timeOrigin / 1_000, -1);
});

// Prometheus sees no increase in the first value of a series. After a restart the first location was accepted, and its
// evaluation began a series: EvaluationStalled was raised.
test('regression: what alerts compare is counted from 0', async () => {
  const registry = new Registry();
  createRecorder(stageMetrics, registry);
  createRecorder(ingestMetrics, registry);
  expect(await valuesOf(registry, 'locations_accepted_total')).toEqual([
    'fenceline_locations_accepted_total{endpoint="track"} 0',
    'fenceline_locations_accepted_total{endpoint="replay"} 0',
    'fenceline_locations_accepted_total{endpoint="bulk"} 0',
  ]);
  expect(await valuesOf(registry, 'locations_evaluated_total')).toEqual([
    'fenceline_locations_evaluated_total{result="applied"} 0',
    'fenceline_locations_evaluated_total{result="repeat"} 0',
    'fenceline_locations_evaluated_total{result="stale"} 0',
  ]);
  expect((await valuesOf(registry, 'analytics_rows_total')).length).toBe(5);
});

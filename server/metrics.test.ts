import eventLoop from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createProcessRegistry, createServiceObservers, observeCaches } from './metrics.js';

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

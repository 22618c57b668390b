/**
 * Runs all tests of the API's analytics queries, with their oracles, on a ClickHouse server that simulates two shards.
 * The same files also run on the embedded engine.
 */
import { afterAll } from 'vitest';
import { useAnalytics } from '../../../pipeline/stages/testing/analytics.js';
import { openShardedAnalytics, stopShardedAnalytics } from './sharded-analytics.js';

const useEmbedded = useAnalytics(openShardedAnalytics);

// Hooks of this kind run in reverse order, so this one runs after those of the suites.
afterAll(async () => {
  useEmbedded();
  await stopShardedAnalytics();
});

await import('../../../api/analytics/queries.test.js');
await import('../../../api/analytics/inside.test.js');
await import('../../../api/analytics/locations.test.js');
await import('../../../api/analytics/query-runner.test.js');
await import('../../../api/analytics/document.test.js');
await import('../../../api/events/filters.test.js');
await import('../../../api/events/routes.test.js');
await import('../../../api/users/routes.test.js');
await import('../../../api/webhooks/attempts.test.js');
await import('../../../api/webhooks/redelivery.test.js');
await import('../../../pipeline/stages/analytics/sink.test.js');

/**
 * Runs all tests of the API's analytics queries, with their oracles, on a ClickHouse server that simulates two shards.
 * The same files also run on the embedded engine.
 */
import { afterAll, vi } from 'vitest';
import { stopTestAnalytics } from './sharded-analytics.js';

vi.mock('../../../pipeline/stages/testing/analytics.js', () => import('./sharded-analytics.js'));

// Hooks of this kind run in reverse order, so this one runs after those of the suites.
afterAll(stopTestAnalytics);

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

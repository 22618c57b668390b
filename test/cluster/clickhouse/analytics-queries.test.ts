/**
 * The tests of everything that the API asks of the analytics store, oracles and all, on a ClickHouse server that plays
 * two shards: the very files that run on the engine in the process.
 */
import { afterAll, vi } from 'vitest';
import { stopTestAnalytics } from './sharded-analytics.js';

vi.mock('../../../pipeline/stages/testing/analytics.js', () => import('./sharded-analytics.js'));

// Hooks that end something run in reverse order: this one after those of the suites.
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

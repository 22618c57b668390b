import { once } from 'node:events';
import { get } from 'node:http';
import { expect, test } from 'vitest';
import { until } from '../testing/until.js';
import { boundedReads } from './history.js';
import { useAnalytics, useApi } from './testing/fixtures.js';

const analytics = await useAnalytics();

const signals: AbortSignal[] = [];
const api = await useApi({
  analytics: {
    // Waits as a query does whose turn does not come.
    query: (_sql, _parameters, signal) => {
      signals.push(signal!);
      return once(signal!, 'abort').then(() => Promise.reject(signal!.reason));
    },
    file: async () => new Uint8Array(),
  },
});
const address = await api.app.listen({ port: 0, host: '127.0.0.1' });

// The embedded store has two connections for reading. Two slow lists held them for as long as they took.
test('a query of a request ends at its time limit', async () => {
  const sql = 'SELECT count() FROM numbers(100000000000) WHERE sipHash64(number) = 1';
  await expect(boundedReads(analytics, { maxSeconds: 1 }).query(sql)).rejects.toMatchObject({
    code: 'query_too_large',
    message: 'the query takes more than 1 seconds: choose a shorter range or more filters',
  });
  const setting = "SELECT value FROM system.settings WHERE name = 'max_execution_time'";
  expect(await boundedReads(analytics).query(setting)).toEqual([{ value: '20' }]);
});

test('other failures are unchanged', async () => {
  await expect(boundedReads(analytics).query('SELECT nothing')).rejects.toMatchObject({ type: 'UNKNOWN_IDENTIFIER' });
});

const day = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';

test.each([
  '/v1/events',
  '/v1/events/0123456789abcdef01234567',
  '/v1/users',
  '/v1/users/ann',
  '/v1/users/ann/locations',
  '/v1/users/ann/locations/0123456789abcdef01234567/explanation',
  '/v1/positions',
  `/v1/analytics/visits?${day}`,
  `/v1/analytics/visits?${day}&format=csv`,
])('a client that leaves does not wait on: %s', async (path) => {
  const request = get(`${address}${path}`, { headers: { authorization: api.secret } });
  request.on('error', () => {});
  const count = signals.length;
  const signal = await until(() => signals[count]);
  expect(signal.aborted).toBe(false);
  request.destroy();
  await until(() => signal.aborted);
});

// A page of a thousand users or events had no bound, and all of it was in memory several times.
test('a query that finds more than a page may have is refused', async () => {
  const sql = "SELECT concat(toString(number), repeat('x', 1000000)) AS text FROM numbers(3)";
  await expect(boundedReads(analytics, { maxMib: 1 }).query(sql)).rejects.toMatchObject({
    code: 'query_too_large',
    message: 'the answer has more than 64 MiB: choose a smaller `limit`',
  });
  expect(await boundedReads(analytics).query(sql)).toHaveLength(3);
});

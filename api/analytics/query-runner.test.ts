import { expect, test } from 'vitest';
import { useAnalytics } from '../testing/fixtures.js';
import { createQueryRunner, queryFailure } from './query-runner.js';

const analytics = await useAnalytics();

const failure = (sql: string): Promise<unknown> => analytics.query(sql).then(() => undefined, queryFailure);

test.each([
  [
    'time',
    'SELECT count() FROM numbers(100000000000) WHERE sipHash64(number) = 1 SETTINGS max_execution_time = 1',
    'takes more than 20 seconds',
  ],
  [
    'memory',
    'SELECT number, count() FROM numbers(10000000) GROUP BY number SETTINGS max_memory_usage = 50000000',
    'needs more than 1024 MiB of memory',
  ],
  [
    'rows',
    "SELECT number FROM numbers(11) SETTINGS max_result_rows = 10, result_overflow_mode = 'throw'",
    'returns more than',
  ],
])('too much %s is refused with the reason', async (_, sql, message) => {
  expect(await failure(sql)).toMatchObject({
    code: 'query_too_large',
    status: 400,
    message: expect.stringContaining(message),
  });
});

test('a time zone that only Node knows is an invalid parameter; other failures are unchanged', async () => {
  expect(await failure("SELECT toStartOfDay(now64(3), 'Middle/Earth')")).toMatchObject({
    code: 'invalid_parameter',
    param: 'timeZone',
  });
  expect(await failure('SELECT nothing')).toMatchObject({ type: 'UNKNOWN_IDENTIFIER' });
});

test('applies the limits', async () => {
  const runner = createQueryRunner(analytics);
  const settings = `SELECT name, value FROM system.settings
     WHERE name IN ('max_execution_time', 'max_memory_usage', 'max_result_rows') ORDER BY name`;
  expect(await runner.rows({ sql: settings, parameters: {} }, 10)).toEqual([
    { name: 'max_execution_time', value: '20' },
    { name: 'max_memory_usage', value: `${2 ** 30}` },
    { name: 'max_result_rows', value: '0' },
  ]);
});

// The store allowed 1 GiB in any case, and the kernel ended the whole server of a small machine.
test('regression: a query took more memory than its machine has', async () => {
  const sql = 'SELECT number AS day, count() AS count FROM numbers(10000000) GROUP BY day';
  await expect(createQueryRunner(analytics, 48).rows({ sql, parameters: {} }, 10)).rejects.toMatchObject({
    code: 'query_too_large',
    message: expect.stringContaining('needs more than 48 MiB of memory'),
  });
});

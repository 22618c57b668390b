import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createExpiringValues } from './expiring-values.js';
import { openStorage } from './storage.js';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

function openValues(maxTotalBytes?: number) {
  const path = mkdtempSync(join(tmpdir(), 'fenceline-values-'));
  const storage = openStorage({ path, partitions: 1, mapBytes: 2 ** 28 });
  endings.push(async () => {
    await storage.close();
    rmSync(path, { recursive: true });
  });
  const time = { nowMs: 1_000 };
  const values = createExpiringValues(storage, { clock: () => time.nowMs, ...(maxTotalBytes && { maxTotalBytes }) });
  const answers = createExpiringValues(storage, { space: 'answers', maxTotalBytes: 3_000 });
  const tables = ['expiring-values', 'expiring-times'].map((name) => storage.deliveryEnvironment.table(name));
  return { values, answers, time, counts: () => tables.map((table) => table.getCount()) };
}

test('a value lives for exactly its time', async () => {
  const { values, time } = openValues();
  await values.put('a', '1', 500);
  time.nowMs = 1_499;
  expect(await values.get('a')).toBe('1');
  time.nowMs = 1_500;
  expect(await values.get('a')).toBeUndefined();
  expect(await values.put('a', '2', 500, { current: null })).toBe(true);
});

test('a sweep removes expired values, and only those', async () => {
  const { values, time, counts } = openValues();
  await Promise.all(Array.from({ length: 100 }, (_, i) => values.put(`${i}`, 'x', i < 90 ? 500 : 5_000)));
  expect(counts()).toEqual([100, 100]);
  time.nowMs = 2_000;
  await values.sweep();
  expect(counts()).toEqual([10, 10]);
  expect(await values.get('95')).toBe('x');
});

test('a full store refuses new values until some are deleted or expire', async () => {
  const { values, time } = openValues(3_000);
  const value = 'x'.repeat(900);
  for (const key of ['a', 'b', 'c']) await values.put(key, value, 500);
  await expect(values.put('d', value, 500)).rejects.toMatchObject({ code: 'overloaded' });
  await values.delete('a');
  await values.put('d', value, 500);
  await expect(values.put('e', value, 500)).rejects.toMatchObject({ code: 'overloaded' });
  time.nowMs = 1_500;
  for (const key of ['e', 'f', 'g']) await values.put(key, value, 500);
});

// Large answers under an Idempotency-Key filled the one space. Then sign-ins, sessions and leases of all projects
// failed.
test('a full space of answers leaves other values their space', async () => {
  const { values, answers } = openValues(3_000);
  const value = 'x'.repeat(900);
  for (const key of ['a', 'b', 'c']) await answers.put(key, value, 500);
  await expect(answers.put('d', value, 500)).rejects.toMatchObject({ code: 'overloaded' });
  expect(await values.get('a')).toBeUndefined();
  for (const key of ['a', 'b', 'c']) await values.put(key, value, 500);
  expect(await values.increment('count', 500)).toBe(1);
});

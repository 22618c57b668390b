import { expect, test } from 'vitest';
import { createConcurrencyLimit } from './concurrency-limit.js';

/** Creates work that runs until the test ends it. */
function work() {
  let end: () => void = () => {};
  let hasBegun = false;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    run: async () => {
      hasBegun = true;
      await ended;
    },
    end: () => end(),
    get hasBegun() {
      return hasBegun;
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('runs a few at once, queues a few in order of arrival and refuses the rest', async () => {
  const limitConcurrency = createConcurrencyLimit(2, 2, 7);
  const works = Array.from({ length: 4 }, work);
  const results = works.map(({ run }) => limitConcurrency(run));
  await settled();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false, false]);
  await expect(limitConcurrency(async () => {})).rejects.toMatchObject({ code: 'overloaded', retryAfterS: 7 });
  works[1]?.end();
  await results[1];
  await settled();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false]);
  for (const one of works) one.end();
  await Promise.all(results);
  expect(await limitConcurrency(async () => 'free again')).toBe('free again');
});

test('failing work frees its slot', async () => {
  const limitConcurrency = createConcurrencyLimit(1, 1, 1);
  const failing = limitConcurrency(async () => {
    throw new Error('no');
  });
  const next = limitConcurrency(async () => 'next');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('next');
});

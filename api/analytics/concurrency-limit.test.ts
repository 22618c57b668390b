import { expect, test } from 'vitest';
import { createTurns } from './concurrency-limit.js';

/** Work that runs until it is told to end. */
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

test('so many run at once, so many wait in the order they came, and the rest is refused', async () => {
  const turns = createTurns(2, 2, 7);
  const works = Array.from({ length: 4 }, work);
  const results = works.map(({ run }) => turns(run));
  await settled();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, false, false]);
  await expect(turns(async () => {})).rejects.toMatchObject({ code: 'overloaded', retryAfterS: 7 });
  works[1]?.end();
  await results[1];
  await settled();
  expect(works.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false]);
  for (const one of works) one.end();
  await Promise.all(results);
  expect(await turns(async () => 'free again')).toBe('free again');
});

test('work that fails gives its turn on', async () => {
  const turns = createTurns(1, 1, 1);
  const failing = turns(async () => {
    throw new Error('no');
  });
  const next = turns(async () => 'next');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('next');
});

import { expect, it } from 'vitest';
import { Background, systemTimers } from './background.js';

// A retry in 30 days overflowed its timer, which called back every millisecond and filled the log with warnings.
it('a delay beyond the longest timer does not end at once', async () => {
  let calls = 0;
  const timer = systemTimers.set(() => {
    calls += 1;
  }, 30 * 86_400_000);
  // Node runs timers in the order of their delays, so an overflowed one of 1 ms would come before this one.
  await new Promise((resolve) => setTimeout(resolve, 5));
  systemTimers.clear(timer);
  expect(calls).toBe(0);
});

// A stage that was closed by a signal and by a failure at the same time never ended the first of both.
it('regression: all who wait for the end of background work go on', async () => {
  const background = new Background((error) => {
    throw error;
  });
  let end: () => void = () => {};
  background.run(new Promise<void>((resolve) => (end = resolve)));
  const told: number[] = [];
  const waiting = [1, 2].map((number) => background.idle().then(() => told.push(number)));
  end();
  await waiting[1];
  expect(told).toEqual([1, 2]);
});

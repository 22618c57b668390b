/** A retry in 30 days overflowed its timer, which called back every millisecond and filled the log with warnings. */
import { expect, it } from 'vitest';
import { systemTimers } from './background.js';

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

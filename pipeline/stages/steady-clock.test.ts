import { expect, test } from 'vitest';
import { createSteadyClock } from './steady-clock.js';

test('a steady clock follows the system clock, and passes on while that is set back until it has caught up', () => {
  let epochMs = 10_000;
  let monotonicMs = 500;
  const clock = createSteadyClock(
    () => epochMs,
    () => monotonicMs,
  );
  const pass = (ms: number): number => {
    epochMs += ms;
    monotonicMs += ms;
    return clock();
  };
  expect(pass(0)).toBe(10_000);
  expect(pass(1.5)).toBe(10_001);
  epochMs = 9_500;
  expect(pass(0)).toBe(10_001);
  expect(pass(1_000)).toBe(10_901);
  expect(pass(5_000)).toBe(15_500);
  epochMs += 60_000;
  expect(pass(0)).toBe(75_500);
});

import { expect, test } from 'vitest';
import { ApiError } from '../../schemas/errors.js';
import { burstS, createCostLimit } from './cost-limit.js';

/** The result: null, or seconds to wait. */
function outcome(charge: () => void): number | null {
  try {
    charge();
    return null;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'rate_limited') return error.retryAfterS ?? Number.NaN;
    throw error;
  }
}

test('a key draws until its time is used up, can draw again after Retry-After, and does not affect other keys', () => {
  let nowMs = 1_000_000;
  const limit = createCostLimit(1_000, () => nowMs);
  const draw = (key: string, costMs: number) => outcome(() => limit.charge(key, costMs));
  expect(draw('a', burstS * 1_000 - 1)).toBeNull();
  // Any remaining budget is enough for the largest map.
  expect(draw('a', 5_001)).toBeNull();
  const waitS = draw('a', 1) as number;
  expect(waitS).toBe(5);
  expect(draw('b', 1)).toBeNull();
  nowMs += waitS * 1_000 - 1;
  expect(draw('a', 1)).not.toBeNull();
  nowMs += 2;
  expect(draw('a', 1)).toBeNull();
});

test('time beyond the estimate is charged, and unused time is limited to the burst', () => {
  let nowMs = 0;
  const limit = createCostLimit(100, () => nowMs);
  limit.charge('a', 10);
  limit.chargeMore('a', 100 * burstS);
  expect(outcome(() => limit.charge('a', 1))).toBe(1);
  nowMs += 3_600_000;
  limit.charge('a', 100 * burstS + 1);
  expect(outcome(() => limit.charge('a', 1))).toBe(1);
});

test('0 disables the limit', () => {
  const limit = createCostLimit(0, () => 0);
  for (let i = 0; i < 100; i++) limit.charge('a', 1_000_000);
});

test('a clock that was set back by an hour locked a key out for this hour', () => {
  let nowMs = 7_200_000;
  const limit = createCostLimit(1_000, () => nowMs);
  limit.charge('a', (burstS + 5) * 1_000);
  nowMs -= 3_600_000;
  expect(outcome(() => limit.charge('a', 1))).toBe(5);
  nowMs += 5_000;
  expect(outcome(() => limit.charge('a', 1))).toBeNull();
});

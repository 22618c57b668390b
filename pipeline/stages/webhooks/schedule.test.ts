import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hourMs } from '../../../schemas/durations.js';
import { decideRetry as decideBySchedule, type EndedAttempt } from './schedule.js';
import { retryDelaysMs } from './testing/bounds.js';

const decideRetry = (ended: EndedAttempt, random: () => number) => decideBySchedule(ended, retryDelaysMs, random);
const maxAttempts = retryDelaysMs.length + 1;

const nowMs = Date.UTC(2026, 0, 1);
const middle = () => 0.5;

const failed = (fields: Partial<EndedAttempt> = {}): EndedAttempt => ({
  attempt: 1,
  result: 'refused',
  status: 500,
  retryAfter: undefined,
  endedAtMs: nowMs,
  ...fields,
});

describe('attempts', () => {
  test('follow the documented delays and end with the eighth', () => {
    const delays = Array.from({ length: 8 }, (_, index) => decideRetry(failed({ attempt: index + 1 }), middle));
    expect(delays.map(({ delayMs }) => delayMs && delayMs / 1_000)).toEqual([
      5,
      300,
      1_800,
      7_200,
      18_000,
      36_000,
      36_000,
      null,
    ]);
    expect(delays.map(({ state }) => state)).toEqual([...Array(7).fill('retrying'), 'given_up']);
  });

  test('end with success', () => {
    const delivered = decideRetry(failed({ result: 'delivered', status: 200, retryAfter: '60' }), middle);
    expect(delivered).toEqual({ state: 'delivered', delayMs: null, pauseMs: 0 });
  });

  test('have a jitter of a tenth of the delay, in both directions', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: maxAttempts - 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, drawn) => {
          const scheduledMs = retryDelaysMs[attempt - 1] as number;
          const { delayMs } = decideRetry(failed({ attempt }), () => drawn);
          expect(Math.abs((delayMs as number) - scheduledMs)).toBeLessThanOrEqual(scheduledMs / 10);
        },
      ),
    );
    const extremes = [0, 1].map((drawn) => decideRetry(failed(), () => drawn).delayMs);
    expect(extremes).toEqual([4_500, 5_500]);
  });

  test('are not made before Retry-After', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.constantFrom(400, 429, 500, 503), (seconds, status) => {
        const { delayMs } = decideRetry(failed({ retryAfter: `${seconds}`, status }), middle);
        expect(delayMs).toBe(Math.max(5_000, Math.min(seconds * 1_000, 24 * hourMs)));
      }),
    );
  });
});

describe('the whole webhook is paused', () => {
  const pause = (fields: Partial<EndedAttempt>) => decideRetry(failed(fields), middle).pauseMs;

  test('until Retry-After of 429 and 503, for at most an hour', () => {
    expect(pause({ status: 429, retryAfter: '90' })).toBe(90_000);
    expect(pause({ status: 503, retryAfter: '86400' })).toBe(hourMs);
  });

  test('also when the delivery is given up', () => {
    expect(pause({ status: 503, retryAfter: '90', attempt: maxAttempts })).toBe(90_000);
  });

  test('for no other status, and not without Retry-After', () => {
    expect(pause({ status: 500, retryAfter: '90' })).toBe(0);
    expect(pause({ status: 429 })).toBe(0);
    expect(pause({ status: 429, retryAfter: 'soon' })).toBe(0);
  });
});

test('a configured schedule replaces the default', () => {
  const states = [1, 2, 3].map((attempt) => decideBySchedule(failed({ attempt }), [100, 200], middle));
  expect(states.map(({ state, delayMs }) => [state, delayMs])).toEqual([
    ['retrying', 100],
    ['retrying', 200],
    ['given_up', null],
  ]);
});

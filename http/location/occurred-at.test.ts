import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '../../schemas/durations.js';
import { minEpochMs } from '../fields/values.js';
import { maxAgeMs, maxAheadMs, readOccurredAt } from './occurred-at.js';

const receivedAt = Date.UTC(2026, 5, 1, 12);
const at = (occurredAt: number) => ({ ok: true, value: { occurredAt, deviceTimed: true } });
const byReceipt = { ok: true, value: { occurredAt: receivedAt, deviceTimed: false } };

describe('the time of a location', () => {
  it.each<[string, object, object]>([
    ['nothing given', {}, byReceipt],
    ['nulls and empty texts', { updatedAtMsDiff: null, updatedAtMs: '', updatedAt: '' }, byReceipt],
    ['an age', { updatedAtMsDiff: 1_500 }, at(receivedAt - 1_500)],
    ['an age of zero', { updatedAtMsDiff: 0 }, at(receivedAt)],
    ['the age by a clock that was just set back', { updatedAtMsDiff: -1 }, at(receivedAt + 1)],
    ['an age of minus five minutes', { updatedAtMsDiff: -maxAheadMs }, at(receivedAt + maxAheadMs)],
    ['an age as text, with a fraction', { updatedAtMsDiff: '1500.4' }, at(receivedAt - 1_500)],
    [
      'an age before all else',
      { updatedAtMsDiff: 1, updatedAtMs: receivedAt - hourMs, updatedAt: '2020-01-01' },
      at(receivedAt - 1),
    ],
    ['an age of exactly seven days', { updatedAtMsDiff: maxAgeMs }, at(receivedAt - maxAgeMs)],
    ['epoch milliseconds', { updatedAtMs: receivedAt - hourMs }, at(receivedAt - hourMs)],
    [
      'milliseconds since boot',
      { updatedAtMs: 86_400_000, updatedAt: '2026-06-01T11:00:00Z' },
      at(receivedAt - hourMs),
    ],
    ['an ISO time', { updatedAt: '2026-06-01T11:00:00.000Z' }, at(receivedAt - hourMs)],
    ['an ISO time with a zone', { updatedAt: '2026-06-01T13:00:00+02:00' }, at(receivedAt - hourMs)],
    ['an ISO time without a zone: UTC', { updatedAt: '2026-06-01T11:00' }, at(receivedAt - hourMs)],
    ['prose', { updatedAt: 'Jun 1, 2026 11:00' }, at(receivedAt - hourMs)],
    ['an ISO date', { updatedAt: '2026-06-01' }, at(receivedAt - 12 * hourMs)],
    ['epoch milliseconds as updatedAt', { updatedAt: String(receivedAt - hourMs) }, at(receivedAt - hourMs)],
    ['a clock a little ahead', { updatedAtMs: receivedAt + maxAheadMs }, at(receivedAt + maxAheadMs)],
    ['a clock too far ahead', { updatedAtMs: receivedAt + maxAheadMs + 1 }, byReceipt],
    ['an ISO time too far ahead', { updatedAt: '2026-06-01T12:05:01Z' }, byReceipt],
    ['the boot clock of Android', { locationMs: 1 }, byReceipt],
    ...[-2 * dayMs, maxAgeMs + 1, -maxAheadMs - 1, '-1e9'].flatMap((updatedAtMsDiff): [string, object, object][] => [
      [
        `an age of ${updatedAtMsDiff} across a restart of the phone`,
        { updatedAtMsDiff, updatedAtMs: receivedAt - hourMs },
        at(receivedAt - hourMs),
      ],
      [
        `an age of ${updatedAtMsDiff}, and a time of seven days ago`,
        { updatedAtMsDiff, updatedAtMs: String(receivedAt - maxAgeMs) },
        at(receivedAt - maxAgeMs),
      ],
    ]),
  ])('%s', (_what, fields, expected) => {
    expect(readOccurredAt(fields, receivedAt)).toEqual(expected);
  });

  const refusedAge = {
    ok: false,
    problem: {
      param: 'updatedAtMsDiff',
      rule:
        'must be a number of milliseconds from -300000, 5 minutes ahead, to 604800000, 7 days ago, ' +
        'or come with an updatedAtMs in that range',
    },
  };

  it.each([maxAgeMs + 1, maxAgeMs * 1_000, -maxAheadMs - 1, '-1e9'])(
    'an updatedAtMsDiff of %j is never evaluated as now: it is refused without a usable updatedAtMs',
    (age) => {
      const unusable = [0, 86_400_000, receivedAt - maxAgeMs - 1, receivedAt + maxAheadMs + 1];
      const times = [{}, { updatedAt: '2026-06-01T11:00:00Z' }, ...unusable.map((updatedAtMs) => ({ updatedAtMs }))];
      for (const others of times)
        expect(readOccurredAt({ updatedAtMsDiff: age, ...others }, receivedAt)).toEqual(refusedAge);
    },
  );

  it.each(['NaN', 'long', true, {}, Number.NaN, Number.POSITIVE_INFINITY])(
    'an updatedAtMsDiff of %j is no number, and is refused whatever else is given',
    (updatedAtMsDiff) => {
      for (const others of [{}, { updatedAtMs: receivedAt - hourMs }, { updatedAt: '2026-06-01T11:00:00Z' }])
        expect(readOccurredAt({ updatedAtMsDiff, ...others }, receivedAt)).toEqual(refusedAge);
    },
  );

  it.each(['soon', {}, 'NaN', '1e400'])('an updatedAtMs of %j is refused', (updatedAtMs) => {
    expect(readOccurredAt({ updatedAtMs }, receivedAt)).toMatchObject({ ok: false, problem: { param: 'updatedAtMs' } });
  });

  it.each([
    '2024-02-30',
    '2023-02-29T00:00:00Z',
    '2024-04-31T12:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T25:00:00Z',
    '2024-01-01T12:60:00Z',
    '2024-01-01T12:00:60Z',
    '2024-01-01T12:00:00+24:00',
    '2024-01-01T12:00:00+02:60',
    '2024-00-01',
    '2024-01-00',
  ])('%s does not exist, and is not read as a neighbour of it', (updatedAt) => {
    expect(readOccurredAt({ updatedAt }, receivedAt)).toMatchObject({ ok: false, problem: { param: 'updatedAt' } });
    expect(readOccurredAt({ updatedAt, updatedAtMsDiff: 5 }, receivedAt)).toMatchObject({ ok: false });
  });

  it.each(['yesterday', '1', '2026-13-01', '1999-12-31', true, {}])('refuses %j', (updatedAt) => {
    expect(readOccurredAt({ updatedAt }, receivedAt)).toMatchObject({ ok: false, problem: { param: 'updatedAt' } });
  });

  it('is a whole number, never more than five minutes ahead, and the receipt unless the device said so', () => {
    const near = fc.integer({ min: receivedAt - maxAgeMs, max: receivedAt + 2 * maxAheadMs });
    const written = near.map((timeMs) => new Date(timeMs).toISOString());
    const missing = fc.constantFrom(undefined, null);
    const anything = fc.oneof(fc.double(), fc.integer(), fc.string());
    const age = fc.oneof(missing, fc.nat({ max: maxAgeMs }), anything);
    const time = fc.oneof(missing, near, written, anything);
    let accepted = 0;
    fc.assert(
      fc.property(age, time, time, (updatedAtMsDiff, updatedAtMs, updatedAt) => {
        const result = readOccurredAt({ updatedAtMsDiff, updatedAtMs, updatedAt }, receivedAt);
        if (!result.ok) return;
        accepted += 1;
        const { occurredAt, deviceTimed } = result.value;
        expect(Number.isSafeInteger(occurredAt)).toBe(true);
        expect(occurredAt).toBeLessThanOrEqual(receivedAt + maxAheadMs);
        expect(occurredAt).toBeGreaterThanOrEqual(Math.min(minEpochMs, receivedAt - maxAgeMs));
        if (!deviceTimed) expect(occurredAt).toBe(receivedAt);
      }),
    );
    expect(accepted).toBeGreaterThan(15);
  });
});

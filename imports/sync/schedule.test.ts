import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, test } from 'vitest';
import type { SyncRecord } from '../../schemas/json/sync.js';
import { createSchedule, dueRun, maxAttempts } from './schedule.js';

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia'];
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const instant = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2030, 0, 1) });

/** The days of a zone, found one by one with another library. A skipped time is shifted as luxon shifts it. */
function timesAround(at: string, zone: string, nowMs: number): { latest: number; next: number } {
  const [hour, minute] = at.split(':').map(Number) as [number, number];
  const today = DateTime.fromMillis(nowMs, { zone }).startOf('day');
  const times = [-2, -1, 0, 1, 2].map((days) => today.plus({ days }).set({ hour, minute }).toMillis());
  return { latest: times.filter((ms) => ms <= nowMs).at(-1)!, next: times.find((ms) => ms > nowMs)! };
}

describe('the times of a schedule', () => {
  test('are those of every day of the zone, where the clock has the time once', () => {
    fc.assert(
      fc.property(time, fc.constantFrom(...zones), instant, (at, zone, nowMs) => {
        const expected = timesAround(at, zone, nowMs);
        const local = (ms: number) => DateTime.fromMillis(ms, { zone }).toFormat('HH:mm');
        fc.pre([expected.latest, expected.next].every((ms) => local(ms) === at));
        fc.pre([-2, -1, 1, 2].every((hours) => local(expected.next + hours * 3_600_000) !== at));
        const made = createSchedule(at, zone);
        const { latest, next } = expected;
        // A time that the clock shows twice counts once. Both libraries choose the same one.
        expect({ latest: made.latest(nowMs), next: made.next(nowMs) }).toEqual({ latest, next });
      }),
    );
  });

  test('enclose every instant, and leave no day out when the clock changes', () => {
    fc.assert(
      fc.property(time, fc.constantFrom(...zones), instant, (at, zone, nowMs) => {
        const made = createSchedule(at, zone);
        const [latest, next] = [made.latest(nowMs), made.next(nowMs)];
        expect(latest).toBeLessThanOrEqual(nowMs);
        expect(next).toBeGreaterThan(nowMs);
        expect(next - latest).toBeGreaterThanOrEqual(22 * 3_600_000);
        expect(next - latest).toBeLessThanOrEqual(26 * 3_600_000);
        expect(made.latest(latest)).toBe(latest);
        expect(made.latest(latest - 1)).toBeLessThan(latest);
      }),
    );
  });
});

describe('a run', () => {
  const nightly = createSchedule('02:00', 'UTC');
  const at = (day: number, hour: number) => Date.UTC(2026, 4, day, hour);
  const run = {
    _id: '0'.repeat(24),
    reason: 'nightly',
    attempt: 1,
    finishedAt: 0,
    message: null,

    mailProblem: null,
  } as const;
  const sync = (fields: Partial<SyncRecord>): SyncRecord =>
    ({ enabled: true, requested: { reason: 'saved', at: at(1, 12) }, lastRun: null, ...fields }) as SyncRecord;
  const ran = (startedAt: number, result: 'succeeded' | 'failed' | 'running' = 'succeeded', attempt = 1) =>
    sync({ lastRun: { ...run, files: [], startedAt, result, attempt } });

  test.each([
    ['when the sync was saved', sync({}), at(1, 12), { reason: 'saved', attempt: 1, sinceMs: at(1, 12) }],
    [
      'when it was requested after the last run',
      { ...ran(at(1, 12)), requested: { reason: 'requested', at: at(1, 13) } },
      at(1, 13),
      { reason: 'requested', attempt: 1, sinceMs: at(1, 13) },
    ],
    ['not again on the same day', ran(at(1, 12)), at(2, 1), undefined],
    ['when the night has come', ran(at(1, 12)), at(2, 2), { reason: 'nightly', attempt: 1, sinceMs: at(2, 2) }],
    ['once a night, also after a failure', ran(at(2, 2), 'failed'), at(3, 1), undefined],
    [
      'once for many nights that were missed',
      ran(at(2, 2)),
      at(9, 17),
      { reason: 'nightly', attempt: 1, sinceMs: at(9, 2) },
    ],
    [
      'again when its process ended',
      ran(at(2, 2), 'running'),
      at(2, 3),
      { reason: 'nightly', attempt: 2, sinceMs: at(2, 2) },
    ],
    [
      'to be given up after several attempts',
      ran(at(2, 2), 'running', maxAttempts),
      at(2, 2),
      { reason: 'nightly', attempt: maxAttempts + 1, sinceMs: at(2, 2) },
    ],
    ['never while the sync is off', { ...ran(at(1, 12)), enabled: false }, at(9, 2), undefined],
    [
      'to be ended when the sync was switched off after its process had ended',
      { ...ran(at(2, 2), 'running'), enabled: false },
      at(2, 3),
      { reason: 'nightly', attempt: 2, sinceMs: at(2, 2) },
    ],
    ['not for the clock of another node, which is ahead', ran(at(2, 3)), at(2, 2), undefined],
    // The nights of a year were left out after a run with a clock that was a year ahead.
    ['after a clock was set back', ran(at(20, 2)), at(3, 3), { reason: 'nightly', attempt: 1, sinceMs: at(3, 2) }],
  ] as const)('is due %s', (_, record, nowMs, expected) => {
    expect(dueRun(record as SyncRecord, nightly, nowMs)).toEqual(expected);
  });
});

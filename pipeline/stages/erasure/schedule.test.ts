import { describe, expect, test } from 'vitest';
import { deriveId } from '../../../schemas/ids.js';
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import { scope, scopes } from '../../catalog/testing/fixtures.js';
import { ErasureSchedule } from './schedule.js';

const timing = { intervalMs: 1, graceMs: 100, recheckMs: 1_000, retryMs: 10, maxRetryMs: 35, retentionMs: 5_000 };
const createdAt = 1_000_000;

const erasure = (number: number, fields: Partial<ErasureRecord> = {}): ErasureRecord => ({
  _id: deriveId('erasure', String(number)),
  ...scope,
  createdAt,
  updatedAt: createdAt,
  subject: 'user',
  target: 'encrypted',
  completedAt: null,
  ...fields,
});

/** Returns after how many milliseconds an erasure is due next. */
function nextPassMs(schedule: ErasureSchedule, record: ErasureRecord, fromMs: number): number {
  for (let ms = 0; ; ms++) if (schedule.due([record], fromMs + ms).length > 0) return ms;
}

describe('the times of passes', () => {
  test('the first runs at once, the last when nothing is on its way, further ones at longer intervals', () => {
    const schedule = new ErasureSchedule(timing);
    const record = erasure(1);
    expect(nextPassMs(schedule, record, createdAt)).toBe(0);
    expect(schedule.isLastPass(record, createdAt + 99)).toBe(false);
    schedule.planNext(record, false, createdAt);
    expect(nextPassMs(schedule, record, createdAt)).toBe(100);
    expect(schedule.isLastPass(record, createdAt + 100)).toBe(true);
    schedule.planNext(record, false, createdAt + 100);
    expect(nextPassMs(schedule, record, createdAt + 100)).toBe(1);
    schedule.planNext(record, true, createdAt + 101);
    expect(nextPassMs(schedule, record, createdAt + 101)).toBe(1_000);
    const completed = { ...record, completedAt: createdAt + 101 };
    expect(schedule.isLastPass(completed, createdAt + 1_101)).toBe(false);
    schedule.planNext(completed, false, createdAt + 1_101);
    expect(nextPassMs(schedule, completed, createdAt + 1_101)).toBe(1_000);
  });

  test('a pass that fails is repeated after 10, 20, 35 and 35 ms, a first one not before the last', () => {
    const schedule = new ErasureSchedule(timing);
    const record = erasure(1);
    schedule.planRetry(record, createdAt);
    expect(nextPassMs(schedule, record, createdAt)).toBe(100);
    schedule.forgetFailures(record);
    const nowMs = createdAt + 100;
    const delays = Array.from({ length: 4 }, () => {
      schedule.planRetry(record, nowMs);
      return nextPassMs(schedule, record, nowMs);
    });
    expect(delays).toEqual([10, 20, 35, 35]);
    schedule.forgetFailures(record);
    schedule.planRetry(record, nowMs);
    expect(nextPassMs(schedule, record, nowMs)).toBe(10);
  });

  // A request of the hour that the clock was ahead stayed `running` for this hour after the correction.
  test('regression: a clock that is set back starts the grace of an erasure again, and delays no pass', () => {
    const schedule = new ErasureSchedule(timing);
    const record = erasure(1);
    const hourAgo = createdAt - 3_600_000;
    schedule.planNext(record, false, createdAt);
    expect(nextPassMs(schedule, record, hourAgo)).toBe(0);
    expect(schedule.isLastPass(record, hourAgo)).toBe(false);
    schedule.planNext(record, false, hourAgo);
    expect(nextPassMs(schedule, record, hourAgo)).toBe(100);
    expect(schedule.isLastPass(record, hourAgo + 100)).toBe(true);
    // The same for a process that starts after the correction.
    const another = new ErasureSchedule(timing);
    another.planRetry(record, hourAgo);
    expect(nextPassMs(another, record, hourAgo)).toBe(100);
    expect(another.isLastPass(record, hourAgo + 100)).toBe(true);
  });

  test('only a completed erasure is forgotten', () => {
    const schedule = new ErasureSchedule(timing);
    const completed = erasure(1, { completedAt: createdAt + 100 });
    expect(schedule.isForgotten(completed, createdAt + 5_000)).toBe(false);
    expect(schedule.isForgotten(completed, createdAt + 5_001)).toBe(true);
    expect(schedule.isForgotten(erasure(2), createdAt + 50_000)).toBe(false);
  });

  test('plans of erasures that are gone do not fill the memory', () => {
    const schedule = new ErasureSchedule(timing);
    const record = erasure(0);
    for (let number = 0; number <= 1_000; number++) schedule.planNext(erasure(number), false, createdAt);
    expect(schedule.due([record], createdAt)).toEqual([]);
    schedule.planNext(erasure(1_001), false, createdAt);
    expect(schedule.due([record], createdAt)).toEqual([record]);
  });
});

describe('the erasures of a pass', () => {
  test('are those of one environment, at most fifty', () => {
    const schedule = new ErasureSchedule(timing);
    const here = Array.from({ length: 51 }, (_, number) => erasure(number));
    const elsewhere = erasure(100, scopes[1]);
    expect(schedule.nextBatch([])).toBeUndefined();
    expect(schedule.nextBatch([here[0]!, elsewhere, ...here.slice(1)])).toEqual({
      ...scope,
      records: here.slice(0, 50),
    });
    expect(schedule.nextBatch([elsewhere, ...here])).toEqual({ ...scopes[1], records: [elsewhere] });
  });

  test('do not mix users with a whole environment, which comes first', () => {
    const schedule = new ErasureSchedule(timing);
    const whole = erasure(3, { subject: 'project' });
    expect(schedule.nextBatch([erasure(1), erasure(2), whole])?.records).toEqual([whole]);
  });

  test('do not include one that failed: it is alone until it succeeds', () => {
    const schedule = new ErasureSchedule(timing);
    const [failed, other, another] = [erasure(1), erasure(2), erasure(3)];
    schedule.planRetry(failed, createdAt);
    expect(schedule.nextBatch([failed, other, another])?.records).toEqual([failed]);
    expect(schedule.nextBatch([other, failed, another])?.records).toEqual([other, another]);
    schedule.forgetFailures(failed);
    expect(schedule.nextBatch([other, failed, another])?.records).toEqual([other, failed, another]);
  });
});

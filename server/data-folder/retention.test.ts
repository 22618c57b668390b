/** When expired records are removed, in virtual time. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startSweeps } from './retention.js';

const minuteMs = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function started(sweep: () => Promise<void> = () => Promise.resolve()) {
  const sweptAtMs: number[] = [];
  const startedMs = Date.now();
  const log = {
    sweep(nowMs: number) {
      sweptAtMs.push(nowMs - startedMs);
      return sweep();
    },
  };
  const store = { sweep: () => Promise.resolve() };
  return { sweptAtMs, sweeps: startSweeps({ log, values: store, answers: store }) };
}

// A node that restarted every nine minutes removed nothing, and its log only grew.
test('the first sweep is a minute after the start, the others every ten minutes', async () => {
  const { sweptAtMs, sweeps } = started();
  await vi.advanceTimersByTimeAsync(25 * minuteMs);
  expect(sweptAtMs).toEqual([minuteMs, 11 * minuteMs, 21 * minuteMs]);
  await sweeps.stop();
  await vi.advanceTimersByTimeAsync(25 * minuteMs);
  expect(sweptAtMs).toHaveLength(3);
});

test('a sweep that fails is reported', async () => {
  const { sweeps } = started(() => Promise.reject(new Error('the disk is gone')));
  const reported = expect(sweeps.done).rejects.toThrow('the disk is gone');
  await vi.advanceTimersByTimeAsync(minuteMs);
  await reported;
});

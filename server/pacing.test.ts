import { describe, expect, test } from 'vitest';
import { createMovingBacklog } from './pacing.js';

const secondMs = 1_000;

/** Returns the backlog after each reading, one second apart. */
function counted(
  readings: readonly { readonly waiting: readonly number[]; readonly applied: readonly number[] }[],
): number[] {
  const backlogOf = createMovingBacklog();
  return readings.map(({ waiting, applied }, second) =>
    backlogOf({ waitingRecords: waiting, appliedRecords: applied }, second * secondMs),
  );
}

const seconds = (count: number) => Array.from({ length: count }, (_, second) => second);

describe('the backlog that uploads wait for', () => {
  test('regression: ignores a stalled partition while another makes progress, or uploads would hang', () => {
    const readings = seconds(60).map((second) => ({ waiting: [5_000, 300], applied: [7, second] }));
    const sums = counted(readings);
    expect(sums.slice(0, 30)).toEqual(Array(30).fill(5_300));
    expect(sums.slice(30)).toEqual(Array(30).fill(300));
  });

  test('ignores it while the other is idle', () => {
    expect(counted(seconds(40).map(() => ({ waiting: [5_000, 0], applied: [7, 9] }))).at(-1)).toBe(0);
  });

  test('contains all partitions if none makes progress because the store is unavailable', () => {
    expect(counted(seconds(120).map(() => ({ waiting: [5_000, 300], applied: [7, 9] }))).at(-1)).toBe(5_300);
  });

  test('contains the partition again as soon as it makes progress', () => {
    const stood = seconds(40).map((second) => ({ waiting: [5_000, 300], applied: [7, second] }));
    expect(counted([...stood, { waiting: [4_900, 300], applied: [107, 40] }]).slice(-2)).toEqual([300, 5_200]);
  });

  test('measures from the time when there was something to do', () => {
    const idle = seconds(100).map((second) => ({ waiting: [0, 0], applied: [7, second] }));
    expect(counted([...idle, { waiting: [5_000, 10], applied: [7, 101] }]).at(-1)).toBe(5_010);
  });
});

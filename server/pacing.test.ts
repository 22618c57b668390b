import { describe, expect, test } from 'vitest';
import { createMovingBacklog } from './pacing.js';

const secondMs = 1_000;

/** What is counted as waiting after each look, one second apart. */
function counted(
  looks: readonly { readonly waiting: readonly number[]; readonly applied: readonly number[] }[],
): number[] {
  const backlogOf = createMovingBacklog();
  return looks.map(({ waiting, applied }, second) =>
    backlogOf({ waitingRecords: waiting, appliedRecords: applied }, second * secondMs),
  );
}

const seconds = (count: number) => Array.from({ length: count }, (_, second) => second);

describe('the backlog that uploads wait for', () => {
  test('regression: leaves out a partition that stands still, while another moves, or uploads would wait for ever', () => {
    const looks = seconds(60).map((second) => ({ waiting: [5_000, 300], applied: [7, second] }));
    const sums = counted(looks);
    expect(sums.slice(0, 30)).toEqual(Array(30).fill(5_300));
    expect(sums.slice(30)).toEqual(Array(30).fill(300));
  });

  test('leaves it out while the other has nothing to do', () => {
    expect(counted(seconds(40).map(() => ({ waiting: [5_000, 0], applied: [7, 9] }))).at(-1)).toBe(0);
  });

  test('is all of it where evaluation goes on nowhere: the store is away', () => {
    expect(counted(seconds(120).map(() => ({ waiting: [5_000, 300], applied: [7, 9] }))).at(-1)).toBe(5_300);
  });

  test('has the partition again as soon as it moves', () => {
    const stood = seconds(40).map((second) => ({ waiting: [5_000, 300], applied: [7, second] }));
    expect(counted([...stood, { waiting: [4_900, 300], applied: [107, 40] }]).slice(-2)).toEqual([300, 5_200]);
  });

  test('counts from when there was something to do', () => {
    const idle = seconds(100).map((second) => ({ waiting: [0, 0], applied: [7, second] }));
    expect(counted([...idle, { waiting: [5_000, 10], applied: [7, 101] }]).at(-1)).toBe(5_010);
  });
});

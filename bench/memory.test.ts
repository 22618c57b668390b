import fc from 'fast-check';
import { expect, test } from 'vitest';
import { childProcesses, ownMemoryMib, slope } from './memory.js';

test('points on a line have its slope and no error', () => {
  const line = fc.tuple(
    fc.integer({ min: -100, max: 100 }),
    fc.integer({ min: -1_000, max: 1_000 }),
    fc.integer({ min: 3, max: 50 }),
  );
  fc.assert(
    fc.property(line, ([rise, start, count]) => {
      const xs = Array.from({ length: count }, (_, i) => i / 4);
      const found = slope(
        xs,
        xs.map((x) => start + rise * x),
      );
      expect(found.slope).toBeCloseTo(rise, 6);
      expect(found.error).toBeCloseTo(0, 4);
    }),
  );
});

test('other points have the standard error of the textbook formula', () => {
  const { slope: found, error } = slope([1, 2, 3, 4], [6, 5, 7, 10]);
  expect([found, error]).toEqual([expect.closeTo(1.4, 10), expect.closeTo(Math.sqrt(4.2 / 2 / 5), 10)]);
});

test('this process has memory and is not its own child', () => {
  expect(ownMemoryMib(process.pid)).toBeGreaterThan(10);
  expect(childProcesses()).not.toContain(process.pid);
});

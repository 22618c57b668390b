import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DashPattern, dashLines, dashPattern } from './dash.js';

/** Lines that go to the right only, so that a point lies on one place of them. */
const line = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: -40, max: 40 })), { minLength: 1, maxLength: 12 })
  .map((steps) => {
    const xy = [0, 0];
    for (const [dx, dy] of steps) xy.push(xy.at(-2)! + dx, xy.at(-1)! + dy);
    return xy;
  });
const dasharray = fc.array(fc.double({ min: 0.5, max: 20, noNaN: true }), { minLength: 2, maxLength: 5 });
const everywhere = { minX: -1e6, minY: -1e6, maxX: 1e6, maxY: 1e6 };

/** Steps along a line: where it is after how long a way. */
function* walk(xy: readonly number[], step: number) {
  let before = 0;
  for (let i = 2; i < xy.length; i += 2) {
    const [x, y] = [xy[i - 2]!, xy[i - 1]!];
    const [dx, dy] = [xy[i]! - x, xy[i + 1]! - y];
    const length = Math.hypot(dx, dy);
    for (let at = step / 2; at < length; at += step) {
      yield { way: before + at, x: x + (at * dx) / length, y: y + (at * dy) / length };
    }
    before += length;
  }
}

/**
 * Returns whether the pattern, repeated as often as it takes, draws at this distance; undefined so near an end that
 * rounding decides.
 */
function isDrawn(lengths: readonly number[], way: number): boolean | undefined {
  const period = lengths.reduce((sum, length) => sum + length, 0);
  let rest = way % period;
  for (const [i, length] of lengths.entries()) {
    if (Math.abs(rest) < 1e-6 || Math.abs(rest - length) < 1e-6) return undefined;
    if (rest < length) return i % 2 === 0;
    rest -= length;
  }
  return undefined;
}

function isCovered({ xy, ends }: { xy: readonly number[]; ends: readonly number[] }, x: number, y: number): boolean {
  let start = 0;
  for (const end of ends) {
    for (let i = start + 2; i < end; i += 2) {
      const [ax, ay, bx, by] = [xy[i - 2]!, xy[i - 1]!, xy[i]!, xy[i + 1]!];
      const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2 || 1);
      const nearest = Math.max(0, Math.min(1, along));
      if (Math.hypot(ax + nearest * (bx - ax) - x, ay + nearest * (by - ay) - y) < 1e-7) return true;
    }
    start = end;
  }
  return false;
}

function patternOf(lengths: readonly number[]): DashPattern {
  return dashPattern(lengths, 1, 0.1)!;
}

test('dashes follow the pattern, including odd counts', () => {
  fc.assert(
    fc.property(line, dasharray, (xy, lengths) => {
      const dashes = dashLines({ xy, ends: [xy.length] }, false, patternOf(lengths), everywhere);
      for (const { way, x, y } of walk(xy, 0.7)) {
        const drawn = isDrawn(lengths, way);
        if (drawn !== undefined) expect(isCovered(dashes, x, y)).toBe(drawn);
      }
    }),
  );
});

test('clipping to a box does not change the dashes inside it', () => {
  const box = fc.tuple(fc.nat({ max: 300 }), fc.integer({ min: -60, max: 60 }), fc.integer({ min: 5, max: 200 }));
  fc.assert(
    fc.property(line, dasharray, box, (xy, lengths, [left, top, size]) => {
      const view = { minX: left, minY: top, maxX: left + size, maxY: top + size };
      const dashes = dashLines({ xy, ends: [xy.length] }, false, patternOf(lengths), view);
      for (const { way, x, y } of walk(xy, 0.7)) {
        const inside = x > view.minX + 1e-6 && x < view.maxX - 1e-6 && y > view.minY + 1e-6 && y < view.maxY - 1e-6;
        const drawn = isDrawn(lengths, way);
        if (inside && drawn !== undefined) expect(isCovered(dashes, x, y)).toBe(drawn);
      }
      for (const [i, value] of dashes.xy.entries()) {
        const [min, max] = i % 2 === 0 ? [view.minX, view.maxX] : [view.minY, view.maxY];
        expect(value).toBeGreaterThan(min - 1e-6);
        expect(value).toBeLessThan(max + 1e-6);
      }
    }),
  );
});

test('a ring is dashed up to its start', () => {
  const xy = [0, 0, 10, 0, 10, 10, 0, 10];
  const dashes = dashLines({ xy, ends: [xy.length] }, true, patternOf([3, 2]), everywhere);
  expect(dashes.xy.length / 2).toBe(16);
  expect(isCovered(dashes, 0, 8.5)).toBe(true);
  expect(isCovered(dashes, 0, 6)).toBe(false);
  expect(isCovered(dashes, 0, 1)).toBe(false);
});

test('a line much longer than the box costs only its visible part', () => {
  const xy = [-1e9, 5, 1e9, 5];
  const { ends } = dashLines({ xy, ends: [4] }, false, patternOf([1, 1]), { minX: 0, minY: 0, maxX: 100, maxY: 10 });
  expect(ends.length).toBeGreaterThanOrEqual(50);
  expect(ends.length).toBeLessThanOrEqual(52);
});

test.each([
  ['nothing', []],
  ['one length', [4]],
  ['no gaps', [4, 0]],
  ['too fine to be seen', [0.01, 0.02]],
  ['no numbers', [Number.NaN, 2]],
])('a pattern of %s is a plain line', (_name, lengths) => {
  expect(dashPattern(lengths, 1, 0.5)).toBeNull();
});

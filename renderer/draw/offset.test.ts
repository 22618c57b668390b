import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LineJoin, movedLines, offsetLines } from './offset.js';

const joins: readonly LineJoin[] = ['bevel', 'round', 'miter'];

/** Lines without sharp corners, of segments of 40 to 100. */
const gentleLine = fc
  .array(fc.tuple(fc.double({ min: 40, max: 100, noNaN: true }), fc.double({ min: -0.8, max: 0.8, noNaN: true })), {
    minLength: 1,
    maxLength: 10,
  })
  .map((steps) => {
    const xy = [0, 0];
    let direction = 0;
    for (const [length, turn] of steps) {
      direction = Math.max(-1.2, Math.min(1.2, direction + turn));
      xy.push(xy.at(-2)! + length * Math.cos(direction), xy.at(-1)! + length * Math.sin(direction));
    }
    return xy;
  });

/**
 * The distance of a point from a line; positive to the right of the nearest segment's direction, where y grows
 * downwards.
 */
function signedDistance(xy: readonly number[], x: number, y: number): number {
  let best = Infinity;
  for (let i = 2; i < xy.length; i += 2) {
    const [ax, ay, bx, by] = [xy[i - 2]!, xy[i - 1]!, xy[i]!, xy[i + 1]!];
    const along = Math.max(
      0,
      Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)),
    );
    const distance = Math.hypot(ax + along * (bx - ax) - x, ay + along * (by - ay) - y);
    const side = Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
    if (distance < Math.abs(best)) best = side * distance;
  }
  return best;
}

test('an offset line has the requested distance and side, except at miters and bevels', () => {
  const distances = fc.double({ min: -9, max: 9, noNaN: true }).filter((distance) => Math.abs(distance) > 0.5);
  fc.assert(
    fc.property(gentleLine, distances, fc.constantFrom(...joins), (xy, distance, join) => {
      const moved = offsetLines({ xy, ends: [xy.length] }, false, distance, join, 2).xy;
      for (let i = 2; i < moved.length; i += 2) {
        for (const share of [0, 0.25, 0.5, 0.75, 1]) {
          const x = moved[i - 2]! + share * (moved[i]! - moved[i - 2]!);
          const y = moved[i - 1]! + share * (moved[i + 1]! - moved[i - 1]!);
          const ratio = signedDistance(xy, x, y) / distance;
          expect(ratio).toBeGreaterThan(0.9);
          expect(ratio).toBeLessThan(1.1);
        }
      }
    }),
  );
});

test('a line to the right moves down', () => {
  expect(offsetLines({ xy: [0, 0, 10, 0], ends: [4] }, false, 3, 'miter', 2)).toEqual({ xy: [0, 3, 10, 3], ends: [4] });
});

test('a clockwise square grows with a left offset and shrinks with a right one', () => {
  const square = { xy: [0, 0, 100, 0, 100, 100, 0, 100], ends: [8] };
  const near = (xy: readonly number[]) => xy.map((value) => Math.round(value * 1e6) / 1e6 + 0);
  expect(near(offsetLines(square, true, -10, 'miter', 2).xy)).toEqual([-10, -10, 110, -10, 110, 110, -10, 110]);
  expect(near(offsetLines(square, true, 10, 'miter', 2).xy)).toEqual([10, 10, 90, 10, 90, 90, 10, 90]);
  expect(offsetLines(square, true, -10, 'bevel', 2).xy).toHaveLength(16);
  expect(offsetLines(square, true, -10, 'round', 2).xy.length).toBeGreaterThan(16);
});

const rounded = (xy: readonly number[]) => xy.map((value) => Math.round(value * 1e3) / 1e3 + 0);
/** A corner of this angle in (0, 0), between segments of 100, with the open side below. */
const cornerOf = (degrees: number): number[] => {
  const [aside, down] = [100 * Math.sin((degrees * Math.PI) / 360), 100 * Math.cos((degrees * Math.PI) / 360)];
  return [-aside, down, 0, 0, aside, down];
};

test('a moved corner is where the moved segments meet, on both sides', () => {
  const [ax, ay] = [5 * Math.SQRT1_2, 5 * Math.SQRT1_2];
  for (const side of [1, -1]) {
    const { xy } = movedLines({ xy: cornerOf(90), ends: [6] }, false, 5 * side, 15);
    expect(rounded(xy.slice(2, 4))).toEqual(rounded([0, 5 * side * Math.SQRT2]));
    expect(rounded(xy.slice(0, 2))).toEqual(rounded([-100 * Math.SQRT1_2 + side * ax, 100 * Math.SQRT1_2 + side * ay]));
    expect(xy).toHaveLength(6);
  }
});

test('a moved corner below 60 degrees has its tip at twice the distance, and bends before and after', () => {
  const { xy } = movedLines({ xy: cornerOf(45), ends: [6] }, false, -5, 15);
  expect(xy).toHaveLength(10);
  expect(rounded(xy.slice(4, 6))).toEqual([0, -10]);
  const [bendX, bendY] = [xy[2]!, xy[3]!];
  expect(Math.hypot(bendX, bendY)).toBeCloseTo(Math.hypot(15, 5));
  expect(signedDistance(cornerOf(45), bendX, bendY)).toBeCloseTo(-5);
  // A short segment has no space to bend.
  expect(movedLines({ xy: cornerOf(45), ends: [6] }, false, -5, 60).xy).toHaveLength(6);
});

test('a moved hairpin follows its segments', () => {
  const { xy } = movedLines({ xy: [0, 0, 100, 0, 0, 0], ends: [6] }, false, 5, 15);
  expect(rounded(xy)).toEqual([0, 5, 85, 5, 100, 5, 100, -5, 85, -5, 0, -5]);
});

test('any line gives finite points within reach', () => {
  const vertex = fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -20, max: 20 }));
  const anyLine = fc.array(vertex, { maxLength: 12 }).map((vertices) => vertices.flat());
  const distances = fc.double({ min: -30, max: 30, noNaN: true });
  fc.assert(
    fc.property(anyLine, distances, fc.constantFrom(...joins), fc.boolean(), (xy, distance, join, closed) => {
      const { xy: moved, ends } = offsetLines({ xy, ends: xy.length ? [xy.length] : [] }, closed, distance, join, 2);
      expect(ends.at(-1) ?? 0).toBe(moved.length);
      const all = [...moved, ...movedLines({ xy, ends: xy.length ? [xy.length] : [] }, closed, distance, 5).xy];
      for (const value of all) expect(Math.abs(value)).toBeLessThanOrEqual(20 + 2 * 30 + 20 * Math.SQRT2);
    }),
  );
});

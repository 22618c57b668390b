import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type LineJoin, offsetLines } from './offset.js';

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

test('any line gives finite points within reach', () => {
  const vertex = fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -20, max: 20 }));
  const anyLine = fc.array(vertex, { maxLength: 12 }).map((vertices) => vertices.flat());
  const distances = fc.double({ min: -30, max: 30, noNaN: true });
  fc.assert(
    fc.property(anyLine, distances, fc.constantFrom(...joins), fc.boolean(), (xy, distance, join, closed) => {
      const { xy: moved, ends } = offsetLines({ xy, ends: xy.length ? [xy.length] : [] }, closed, distance, join, 2);
      expect(ends.at(-1) ?? 0).toBe(moved.length);
      for (const value of moved) expect(Math.abs(value)).toBeLessThanOrEqual(20 + 2 * 30 + 20 * Math.SQRT2);
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Polyline } from './polyline.js';

const vertex = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 }));
const vertices = fc.array(vertex, { minLength: 2, maxLength: 12 });

/** Walks along the line, segment by segment. */
function walk(line: readonly (readonly [number, number])[], distance: number): readonly number[] {
  let left = Math.max(0, distance);
  for (let i = 1; i < line.length; i++) {
    const [[x0, y0], [x1, y1]] = [line[i - 1]!, line[i]!];
    const length = Math.hypot(x1 - x0, y1 - y0);
    if (left <= length && length > 0) return [x0 + (left / length) * (x1 - x0), y0 + (left / length) * (y1 - y0)];
    left -= length;
  }
  return line.at(-1)!;
}

test('at() returns the point that a walk reaches', () => {
  fc.assert(
    fc.property(vertices, fc.double({ min: -10, max: 400, noNaN: true }), (line, distance) => {
      const [x, y] = new Polyline(line.flat()).at(distance);
      const [walkedX, walkedY] = walk(line, distance);
      expect(x).toBeCloseTo(walkedX!, 6);
      expect(y).toBeCloseTo(walkedY!, 6);
    }),
  );
});

test('between() returns the vertices that a walk passes', () => {
  fc.assert(
    fc.property(
      vertices,
      fc.double({ min: 0, max: 200, noNaN: true }),
      fc.double({ min: 0, max: 200, noNaN: true }),
      (line, a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        let travelled = 0;
        const passed = line.filter((vertex, i) => {
          if (i > 0) travelled += Math.hypot(vertex[0] - line[i - 1]![0], vertex[1] - line[i - 1]![1]);
          return i > 0 && travelled > from && travelled < to;
        });
        expect(new Polyline(line.flat()).between(from, to)).toEqual(passed);
      },
    ),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Polyline } from './polyline.js';

const vertex = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 }));
const vertices = fc.array(vertex, { minLength: 2, maxLength: 12 });
type Vertex = readonly [number, number];

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

/** Returns the distance from the straight line through two points, by the foot of the perpendicular. */
function distanceFrom([startX, startY]: Vertex, [endX, endY]: Vertex, [x, y]: Vertex): number {
  const [dx, dy] = [endX - startX, endY - startY];
  const squared = dx * dx + dy * dy;
  const share = squared === 0 ? 0 : ((x - startX) * dx + (y - startY) * dy) / squared;
  return Math.hypot(x - startX - share * dx, y - startY - share * dy);
}

test('leaves() tells whether a walk passes a vertex that is farther from the straight line', () => {
  const length = fc.double({ min: 0, max: 200, noNaN: true });
  let outside = 0;
  fc.assert(
    fc.property(
      vertices,
      vertices,
      length,
      length,
      fc.double({ min: 0.5, max: 60, noNaN: true }),
      (line, [start, end], a, b, tolerance) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        let travelled = 0;
        const passed = line.filter((vertex, i) => {
          if (i > 0) travelled += Math.hypot(vertex[0] - line[i - 1]![0], vertex[1] - line[i - 1]![1]);
          return i > 0 && travelled > from && travelled < to;
        });
        const distances = passed.map((vertex) => distanceFrom(start!, end!, vertex));
        fc.pre(distances.every((distance) => Math.abs(distance - tolerance) > 1e-6));
        const expected = distances.some((distance) => distance > tolerance);
        if (expected) outside++;
        expect(new Polyline(line.flat()).leaves(start!, end!, from, to, tolerance)).toBe(expected);
      },
    ),
  );
  expect(outside).toBeGreaterThan(10);
});

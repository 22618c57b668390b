import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PlanePoint, poleOfInaccessibility } from './pole-of-inaccessibility.js';

const coordinate = fc.integer({ min: -1_000, max: 1_000 });

test('a polygon without height, without width, or of one point ends the search', () => {
  const pole = (...points: PlanePoint[]) => poleOfInaccessibility([[...points, points[0]!]]);
  expect(pole([0, 5], [10, 5], [20, 5])).toEqual([0, 5]);
  expect(pole([3, 0], [3, 10], [3, 20])).toEqual([3, 0]);
  expect(pole([7, 7], [7, 7], [7, 7])).toEqual([7, 7]);
});

test('the pole of a rectangle is as far from its edges as half its shorter side', () => {
  fc.assert(
    fc.property(
      coordinate,
      coordinate,
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 500 }),
      (x, y, w, h) => {
        const ring: PlanePoint[] = [
          [x, y],
          [x + w, y],
          [x + w, y + h],
          [x, y + h],
          [x, y],
        ];
        const [px, py] = poleOfInaccessibility([ring]);
        const distance = Math.min(px - x, x + w - px, py - y, y + h - py);
        const shorter = Math.min(w, h);
        expect(distance).toBeGreaterThanOrEqual(shorter / 2 - 0.02 * shorter - 1e-9);
      },
    ),
  );
});

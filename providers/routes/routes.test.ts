/** Paths and lengths of routes. */
import fc from 'fast-check';
import { Geodesic } from 'geographiclib-geodesic';
import { describe, expect, test } from 'vitest';
import { distance } from '../../pipeline/geometry/scale.js';
import type { Position } from '../../schemas/json/common.js';
import { geodesicDistance } from './geodesic.js';
import { pathThrough } from './path.js';
import { decodePolyline, encodePolyline } from './polyline.js';

const position = (limit = 85): fc.Arbitrary<Position> =>
  fc.tuple(fc.double({ min: -180, max: 180, noNaN: true }), fc.double({ min: -limit, max: limit, noNaN: true }));

describe('polylines', () => {
  test('are those of the published example', () => {
    const path: Position[] = [
      [-120.2, 38.5],
      [-120.95, 40.7],
      [-126.453, 43.252],
    ];
    expect(encodePolyline(path, 5)).toBe('_p~iF~ps|U_ulLnnqC_mqNvxq`@');
    expect(decodePolyline('_p~iF~ps|U_ulLnnqC_mqNvxq`@', 5)).toEqual(path);
  });

  test.each([5, 6])('with %d digits give back every path, rounded to them', (digits) => {
    fc.assert(
      fc.property(fc.array(position(), { maxLength: 20 }), (path) => {
        const read = decodePolyline(encodePolyline(path, digits), digits);
        expect(read).toHaveLength(path.length);
        for (const [index, [x, y]] of path.entries()) {
          expect(Math.abs(read[index]![0] - x)).toBeLessThan(0.51 * 10 ** -digits);
          expect(Math.abs(read[index]![1] - y)).toBeLessThan(0.51 * 10 ** -digits);
        }
      }),
    );
  });
});

test('the straight line agrees with the geodesic within 0.02 %', () => {
  fc.assert(
    fc.property(position(90), position(90), (one, other) => {
      const { s12 = 0 } = Geodesic.WGS84.Inverse(one[1], one[0], other[1], other[0]);
      // Near the antipode, the formula has no accuracy.
      fc.pre(s12 < 19_000_000);
      expect(Math.abs(geodesicDistance(one, other) - s12)).toBeLessThan(0.0002 * s12 + 0.01);
    }),
  );
});

describe('points on a path', () => {
  const path = fc.array(
    fc.tuple(fc.double({ min: 0, max: 0.1, noNaN: true }), fc.double({ min: 50, max: 50.1, noNaN: true })),
    {
      minLength: 2,
      maxLength: 12,
    },
  ) as fc.Arbitrary<Position[]>;

  test('begin and end with it, and are no further apart than evenly spaced', () => {
    fc.assert(
      fc.property(path, fc.integer({ min: 2, max: 30 }), (given, points) => {
        const shown = pathThrough(given, points);
        const lengthOf = (line: readonly Position[]) =>
          line.slice(1).map(([x, y], index) => distance(...line[index]!, x, y));
        const total = lengthOf(given).reduce((sum, length) => sum + length, 0);
        expect(shown).toHaveLength(points);
        expect(shown[0]).toEqual(given[0]);
        expect(shown.at(-1)).toEqual(given.at(-1));
        for (const step of lengthOf(shown)) expect(step).toBeLessThanOrEqual((1.001 * total) / (points - 1) + 0.01);
      }),
    );
  });

  // The points of a road in Fiji went around the world.
  test('on a path across the antimeridian stay near it', () => {
    const line: Position[] = [
      [179.9, -17],
      [-179.9, -17],
    ];
    expect(pathThrough(line, 5).map(([longitude]) => Number(Math.abs(longitude).toFixed(6)))).toEqual([
      179.9, 179.95, 180, 179.95, 179.9,
    ]);
  });

  test('on a straight path are evenly spaced', () => {
    const line: Position[] = [
      [10, 50],
      [10, 50.001],
      [10, 50.01],
    ];
    expect(pathThrough(line, 3)[1]![1]).toBeCloseTo(50.005, 6);
  });
});

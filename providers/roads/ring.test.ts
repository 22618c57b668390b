import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeRing } from '../../pipeline/geometry/ring.js';
import type { Position } from '../../schemas/json/common.js';
import { maxRingPoints } from '../../schemas/json/constants.js';
import { roadBoundary } from './boundary.js';
import { findRing } from './ring.js';

const center: Position = [10, 50];

/** A closed ring about a point, with teeth, so that simplifying would change it. */
function star(corners: number, about: Position = center, reach = 0.1): Position[] {
  const ring = Array.from({ length: corners }, (_, index): Position => {
    const angle = (2 * Math.PI * index) / corners;
    const radius = reach * (index % 2 === 0 ? 1 : 0.5);
    return [about[0] + radius * Math.cos(angle), about[1] + radius * Math.sin(angle)];
  });
  return [...ring, ring[0]!];
}
const polygon = (...rings: Position[][]) => ({ type: 'Polygon', coordinates: rings });
const square = ([x, y]: Position, reach: number): Position[] => [
  [x - reach, y - reach],
  [x + reach, y - reach],
  [x + reach, y + reach],
  [x - reach, y + reach],
  [x - reach, y - reach],
];

/** Finds a ring among areas by tolerance. */
async function find(areas: readonly unknown[], boundary?: Position[][]) {
  const asked: (number | undefined)[] = [];
  const outcome = await findRing({
    center,
    tolerancesM: areas.map((_, index) => (index === 0 ? undefined : index)),
    areaAt: async (toleranceM) => {
      asked.push(toleranceM);
      return { ok: true, value: areas[toleranceM ?? 0] };
    },
    boundary: boundary && roadBoundary(boundary),
  });
  return { asked, outcome, code: outcome.ok ? undefined : outcome.error.code };
}

describe('the first valid ring about the destination is taken', () => {
  test('at once, if the first one is', async () => {
    const { asked, outcome } = await find([polygon(star(20)), polygon(star(10))]);
    expect(outcome).toEqual({ ok: true, value: star(20) });
    expect(asked).toEqual([undefined]);
  });

  test.each([
    ['has too many vertices', polygon(star(maxRingPoints))],
    [
      'crosses itself',
      polygon([
        [9, 49],
        [11, 51],
        [11, 49],
        [9, 51],
        [9, 49],
      ]),
    ],
    ['is empty', polygon([])],
    ['is not an area', { type: 'LineString', coordinates: star(4) }],
    ['is nothing', null],
    ['does not contain the destination', polygon(star(6, [11, 50]))],
  ])('after one that %s', async (_, wrong) => {
    const { asked, outcome } = await find([wrong, wrong, polygon(star(12))]);
    expect(outcome).toEqual({ ok: true, value: star(12) });
    expect(asked).toEqual([undefined, 1, 2]);
  });

  test('without its holes, even one that contains the destination', async () => {
    expect((await find([polygon(star(20), square(center, 0.001))])).outcome).toEqual({ ok: true, value: star(20) });
  });

  test('of several areas the one around the destination', async () => {
    const several = { type: 'MultiPolygon', coordinates: [[square([11, 50], 0.1)], [star(8)], [square([9, 50], 0.1)]] };
    expect((await find([several])).outcome).toEqual({ ok: true, value: star(8) });
  });

  test('across the antimeridian', async () => {
    const ring: Position[] = [
      [179, -1],
      [-179, -1],
      [-179, 1],
      [179, 1],
      [179, -1],
    ];
    for (const longitude of [179.5, -179.5, 180, -180]) {
      const areaAt = async () => ({ ok: true, value: polygon(ring) }) as const;
      expect(await findRing({ center: [longitude, 0], tolerancesM: [undefined], areaAt })).toEqual({
        ok: true,
        value: ring,
      });
    }
  });
});

test('a destination outside all areas is outside the road data', async () => {
  expect((await find([polygon(star(8, [11, 50])), polygon(star(8, [11, 50]))])).code).toBe('outside_road_data');
});

test('without any valid ring the provider is at fault', async () => {
  expect((await find([polygon([]), null])).code).toBe('unavailable');
});

describe('an area that the edge of the road data cuts is refused', () => {
  const wide = square(center, 1);
  test.each([
    ['inside', [wide], undefined],
    ['beyond the boundary', [square([10.5, 50], 0.55)], 'outside_road_data'],
    ['nearer than 500 m to the boundary', [square(center, 0.104)], 'outside_road_data'],
    ['across a hole of the data', [wide, square([10.1, 50], 0.01)], 'outside_road_data'],
    ['in a second part of the data', [square([20, 50], 1), wide], undefined],
    [
      'in a boundary across the antimeridian',
      [
        [
          [9, 40],
          [-175, 40],
          [-175, 60],
          [9, 60],
          [9, 40],
        ],
      ],
      undefined,
    ],
  ] as [string, Position[][], string | undefined][])('%s', async (_, boundary, code) => {
    expect((await find([polygon(star(20))], boundary)).code).toBe(code);
  });
});

test('whatever the areas are, the result is a valid ring about the destination or an error', async () => {
  const coordinate = fc.tuple(fc.integer({ min: 8, max: 12 }), fc.integer({ min: 48, max: 52 }));
  const ring = fc.array(coordinate, { minLength: 1, maxLength: 6 }).map((positions) => [...positions, positions[0]!]);
  const area = fc.oneof(
    fc.anything(),
    fc.array(ring, { maxLength: 2 }).map((rings) => ({ type: 'Polygon', coordinates: rings })),
    fc
      .array(fc.array(ring, { maxLength: 2 }), { maxLength: 3 })
      .map((coordinates) => ({ type: 'MultiPolygon', coordinates })),
  );
  let found = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(area, { minLength: 1, maxLength: 4 }), async (areas) => {
      const { outcome } = await find(areas);
      if (!outcome.ok) return;
      found += 1;
      expect(normalizeRing(outcome.value).ok).toBe(true);
    }),
    { numRuns: 200 },
  );
  expect(found).toBeGreaterThan(10);
});

import fc from 'fast-check';
import type { Position } from 'geojson';
import { expect, test } from 'vitest';
import { joined, landOf, polygonsOf } from './rings.js';

const square = (west: number, south: number, size: number): Position[] => [
  [west, south],
  [west + size, south],
  [west + size, south + size],
  [west, south + size],
  [west, south],
];

/** Signed area; positive counter-clockwise. */
function areaOf(ring: readonly Position[]): number {
  let sum = 0;
  for (let i = 1; i < ring.length; i++) sum += ring[i - 1]![0]! * ring[i]![1]! - ring[i]![0]! * ring[i - 1]![1]!;
  return sum / 2;
}

test('a ring is joined from its parts, in any order and direction', () => {
  const ring = Array.from({ length: 12 }, (_, i): Position => [Math.cos(i), Math.sin(i)]);
  const closed = [...ring, ring[0]!];
  const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 11 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(cuts, fc.infiniteStream(fc.boolean()), fc.infiniteStream(fc.nat()), (at, flips, order) => {
      const ends = [0, ...at.toSorted((a, b) => a - b), 12];
      const parts = ends.slice(1).map((end, i) => {
        const part = closed.slice(ends[i]!, end + 1);
        return { part: flips.next().value ? part.toReversed() : part, rank: order.next().value };
      });
      const chains = joined(parts.toSorted((a, b) => a.rank - b.rank).map(({ part }) => part));
      expect(chains).toHaveLength(1);
      expect(chains[0]).toHaveLength(13);
      expect(Math.abs(areaOf(chains[0]!))).toBeCloseTo(Math.abs(areaOf(closed)));
    }),
  );
});

test('rings in rings are holes, and rings in holes are islands', () => {
  const polygons = polygonsOf([square(0, 0, 10), square(2, 2, 6), square(4, 4, 1), square(20, 0, 5)]);
  expect(polygons.map((rings) => rings.length).toSorted()).toEqual([1, 1, 2]);
});

test('land is on the left of coastlines, as far as the bounds', () => {
  const bounds = [0, 0, 10, 10] as const;
  const areaOfLand = (lines: Position[][]) => landOf(lines, bounds).reduce((sum, [outer]) => sum + areaOf(outer!), 0);
  // Northwards, the land is in the west.
  expect(
    areaOfLand([
      [
        [3, -5],
        [3, 15],
      ],
    ]),
  ).toBeCloseTo(30);
  expect(
    areaOfLand([
      [
        [3, 15],
        [3, -5],
      ],
    ]),
  ).toBeCloseTo(70);
  expect(
    areaOfLand([
      [
        [3, -5],
        [3, 5],
      ],
      [
        [3, 5],
        [3, 15],
      ],
    ]),
  ).toBeCloseTo(30);
  expect(areaOfLand([square(4, 4, 2)])).toBeCloseTo(4);
  expect(areaOfLand([])).toBeCloseTo(100);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { ringOf } from './edges.js';
import { shareInCircle, shareInRing } from './overlap.js';
import { between, place, unitStar } from './testing/arbitraries.js';
import { loadGeos } from './testing/geos.js';

const geos = await loadGeos();

/** A disc as a polygon of the same area. */
function disc(x: number, y: number, radius: number): Float64Array {
  const count = 4_000;
  const step = (2 * Math.PI) / count;
  const reach = radius * Math.sqrt(step / Math.sin(step));
  return Float64Array.from({ length: 2 * count }, (_, i) =>
    i % 2 === 0 ? x + reach * Math.cos(step * (i >> 1)) : y + reach * Math.sin(step * (i >> 1)),
  );
}

test('the share in a ring agrees with GEOS, for either winding', () => {
  const stars = fc.oneof(unitStar(3, 12), unitStar(12, 300), unitStar(1_000, 1_999));
  fc.assert(
    fc.property(stars, between(-1.2, 1.2), between(-1.2, 1.2), between(0.01, 2), (star, x, y, radius) => {
      const expected = geos.intersectionArea(star, disc(x, y, radius)) / (Math.PI * radius * radius);
      const scaled = place(star, 0, 0, 1 / 50, 1 / 100);
      const backwards = Float64Array.from(
        { length: scaled.length },
        (_, i) => scaled[scaled.length - 2 - i + 2 * (i % 2)]!,
      );
      for (const points of [scaled, backwards]) {
        const share = shareInRing(ringOf(points), x / 50, y / 100, 50, 100, radius);
        expect(Math.abs(share - expected)).toBeLessThan(2e-6);
      }
    }),
    { numRuns: propertyRuns(400) },
  );
});

test('at a corner, an edge or a vertex of a grid the share is the angle', () => {
  const square = Float64Array.of(0, 0, 10, 0, 10, 10, 0, 10);
  const share = (x: number, y: number, radius: number): number => shareInRing(ringOf(square), x, y, 1, 1, radius);
  expect(share(0, 0, 5)).toBeCloseTo(0.25, 12);
  expect(share(5, 0, 5)).toBeCloseTo(0.5, 12);
  expect(share(5, 5, 5)).toBeCloseTo(1, 12);
  expect(share(5, 5, 100)).toBeCloseTo(100 / (Math.PI * 1e4), 12);
  expect(share(-5, 5, 5)).toBeCloseTo(0, 12);
});

test('the share in a circle agrees with GEOS', () => {
  fc.assert(
    fc.property(between(0, 3), between(0.1, 2), between(0.1, 2), (distance, circle, radius) => {
      const common = geos.intersectionArea(disc(0, 0, circle), disc(distance, 0, radius));
      const expected = common / (Math.PI * radius * radius);
      expect(Math.abs(shareInCircle(distance, circle, radius) - expected)).toBeLessThan(
        2e-5 * (1 + (circle / radius) ** 2),
      );
    }),
    { numRuns: propertyRuns(300) },
  );
});

test('circles: within, apart, and tiny discs at the edge of large ones', () => {
  expect(shareInCircle(0, 50, 10)).toBe(1);
  expect(shareInCircle(0, 10, 50)).toBeCloseTo(0.04, 12);
  expect(shareInCircle(61, 50, 10)).toBe(0);
  expect(shareInCircle(50, 50, 10)).toBeCloseTo(0.4788, 4);
  expect(shareInCircle(10_000, 10_000, 0.1)).toBeCloseTo(0.5, 5);
  expect([shareInCircle(50, 50, 0), shareInCircle(50.001, 50, 0)]).toEqual([1, 0]);
});

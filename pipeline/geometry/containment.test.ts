import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { contains } from './containment.js';
import { ringOf } from './edges.js';
import { between, place, ulpsAway, unitStar } from './testing/arbitraries.js';
import { loadGeos } from './testing/geos.js';

const geos = await loadGeos();

/** A ring anywhere on earth, from a few metres to some degrees in size, with 3 to 2,000 vertices. */
const rings = fc
  .tuple(
    fc.oneof(unitStar(3, 40), unitStar(41, 500), unitStar(1_999, 1_999)),
    between(-179, 179),
    between(-89, 89),
    fc.constantFrom(1e-4, 0.01, 1),
  )
  .map(([star, x, y, size]) => place(star, x, y, size, size));

test('agrees with GEOS on random points', () => {
  fc.assert(
    fc.property(
      rings,
      fc.array(fc.tuple(between(0, 1), between(0, 1)), { minLength: 20, maxLength: 20 }),
      (points, places) => {
        const ring = ringOf(points);
        for (const [u, v] of places) {
          const [x, y] = [ring.minX + u * (ring.maxX - ring.minX), ring.minY + v * (ring.maxY - ring.minY)];
          expect(contains(ring, x, y)).toBe(geos.covers(points, x, y));
        }
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});

test('agrees with GEOS on points on edges and up to two doubles beside them', () => {
  const choices = fc.array(
    fc.tuple(
      fc.nat(),
      fc.constantFrom(0, 0.5, 0.3, 1),
      fc.integer({ min: -2, max: 2 }),
      fc.integer({ min: -2, max: 2 }),
    ),
    { minLength: 40, maxLength: 40 },
  );
  fc.assert(
    fc.property(rings, choices, (points, chosen) => {
      const ring = ringOf(points);
      for (const [edge, t, stepX, stepY] of chosen) {
        const i = (2 * edge) % points.length;
        const j = (i + 2) % points.length;
        const x = ulpsAway(points[i]! + t * (points[j]! - points[i]!), stepX);
        const y = ulpsAway(points[i + 1]! + t * (points[j + 1]! - points[i + 1]!), stepY);
        expect(contains(ring, x, y)).toBe(geos.covers(points, x, y));
      }
    }),
    { numRuns: propertyRuns(250) },
  );
});

test('small integers, with points on edges and level with vertices', () => {
  const coordinate = fc.integer({ min: 0, max: 6 });
  const grid = fc
    .array(fc.tuple(coordinate, coordinate), { minLength: 3, maxLength: 80 })
    .map((positions) => Float64Array.from(positions.flat()))
    .filter((points) => geos.isValid(points));
  const blocky = unitStar(20, 120).map((star) => star.map((value) => Math.round(20 * value)));
  fc.assert(
    fc.property(
      fc.oneof(
        grid,
        blocky.filter((points) => geos.isValid(points)),
      ),
      (points) => {
        const ring = ringOf(points);
        for (let x = ring.minX - 1; x <= ring.maxX + 1; x += 0.5) {
          for (let y = ring.minY - 1; y <= ring.maxY + 1; y += 0.5) {
            expect(contains(ring, x, y)).toBe(geos.covers(points, x, y));
          }
        }
      },
    ),
    { numRuns: propertyRuns(25) },
  );
});

test('neighbours that share an edge leave no gap between them', () => {
  const halves = fc.tuple(
    between(-170, 170),
    between(-80, 80),
    between(0.01, 1),
    between(-0.5, 0.5),
    between(-0.5, 0.5),
  );
  fc.assert(
    fc.property(
      halves,
      fc.array(between(0, 1), { minLength: 50, maxLength: 50 }),
      ([x, y, size, tiltA, tiltB], places) => {
        const [south, north] = [
          [x + tiltA * size, y],
          [x + tiltB * size, y + size],
        ] as const;
        const west = ringOf(Float64Array.of(x - size, y, ...south, ...north, x - size, y + size));
        const east = ringOf(Float64Array.of(x + size, y, x + size, y + size, ...north, ...south));
        for (const t of places) {
          const [atX, atY] = [south[0] + t * (north[0] - south[0]), south[1] + t * (north[1] - south[1])];
          expect(contains(west, atX, atY) || contains(east, atX, atY)).toBe(true);
        }
        for (const end of [south, north])
          expect([contains(west, ...end), contains(east, ...end)]).toEqual([true, true]);
      },
    ),
    { numRuns: propertyRuns(200) },
  );
});

import fc from 'fast-check';
import type { Position } from 'geojson';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { labelPoint } from './label-point.js';
import { isInside } from './testing/inside.js';

/** Star-shaped around a point, so that no edges cross. */
const polygon = fc
  .tuple(
    fc.integer({ min: -60, max: 60 }),
    fc.integer({ min: -40, max: 40 }),
    fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 3, maxLength: 24 }),
  )
  .map(([x, y, radii]): Position[][] => {
    const ring = radii.map((radius, i) => {
      const angle = (2 * Math.PI * i) / radii.length;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    });
    return [[...ring, ring[0]!]];
  });

/** Returns the distance to the nearest edge, sampled at many points of each edge. */
function edgeDistance([x, y]: Position, ring: readonly Position[], xScale: number): number {
  let nearest = Infinity;
  for (let i = 1; i < ring.length; i++) {
    const [x0, y0] = ring[i - 1]!;
    const [x1, y1] = ring[i]!;
    for (let part = 0; part <= 1; part += 1 / 64) {
      nearest = Math.min(nearest, Math.hypot((x0! + part * (x1! - x0!) - x!) * xScale, y0! + part * (y1! - y0!) - y!));
    }
  }
  return nearest;
}

test('the point is inside, and no grid point is much farther from the edges', () => {
  fc.assert(
    fc.property(polygon, (rings) => {
      const ring = rings[0]!;
      const found = labelPoint(rings);
      expect(isInside(found, rings)).toBe(true);
      const [xs, ys] = [ring.map(([x]) => x!), ring.map(([, y]) => y!)];
      const [west, east, south, north] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
      const xScale = Math.cos((((south + north) / 2) * Math.PI) / 180) / 2;
      let most = 0;
      for (let i = 1; i < 20; i++) {
        for (let j = 1; j < 20; j++) {
          const point = [west + ((east - west) * i) / 20, south + ((north - south) * j) / 20];
          if (isInside(point, rings)) most = Math.max(most, edgeDistance(point, ring, xScale));
        }
      }
      const shorterSide = Math.min((east - west) * xScale, north - south);
      expect(edgeDistance(found, ring, xScale)).toBeGreaterThan(most - 0.05 * shorterSide);
    }),
    { numRuns: propertyRuns(60) },
  );
});

test('the point is not in a hole', () => {
  const square = (half: number) => [
    [-half, -half],
    [half, -half],
    [half, half],
    [-half, half],
    [-half, -half],
  ];
  const [x, y] = labelPoint([square(10), square(6)]);
  expect(Math.max(Math.abs(x!), Math.abs(y!))).toBeGreaterThan(6);
});

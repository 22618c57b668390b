import fc from 'fast-check';
import type { Feature } from 'geojson';
import { expect, test } from 'vitest';
import { partsOf, positionsInPart, positionsOf } from './feature-parts';

const shape = (id: unknown, positions: number): Feature => ({
  type: 'Feature',
  geometry: { type: 'Polygon', coordinates: [Array.from({ length: positions }, () => [0, 0])] },
  properties: { id },
});
const sizes = fc.array(fc.integer({ min: 4, max: 2 * positionsInPart }), { maxLength: 20 });

test('parts have all features in order, and end where they have enough positions', () => {
  fc.assert(
    fc.property(sizes, (positions) => {
      const features = positions.map((count, id) => shape(`${id}`, count));
      const parts = partsOf(features);
      expect(parts.flat()).toEqual(features);
      for (const [index, part] of parts.entries()) {
        const counts = part.map(positionsOf);
        const before = counts.slice(0, -1).reduce((sum, count) => sum + count, 0);
        expect(before).toBeLessThan(positionsInPart);
        if (index < parts.length - 1) expect(before + counts.at(-1)!).toBeGreaterThanOrEqual(positionsInPart);
      }
    }),
    { numRuns: 30 },
  );
});

test('features that have no id, or the same one, stay together', () => {
  const many = 2 * positionsInPart;
  expect(partsOf([shape(undefined, many), shape('a', many)])).toHaveLength(1);
  expect(partsOf([shape('a', many), shape('a', many)])).toHaveLength(1);
  expect(partsOf([shape('a', many), shape('b', many)])).toHaveLength(2);
  expect(partsOf([])).toEqual([[]]);
});

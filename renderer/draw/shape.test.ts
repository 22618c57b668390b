import fc from 'fast-check';
import { expect, test } from 'vitest';
import { draw, shapes } from '../testing/pictures.js';
import { type DrawnFeature, rectangle, tileBytes, type Vertex } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import { shapesOf } from './shape.js';

/** A square with or without a hole, as rings. */
const area = fc
  .record({
    x: fc.nat({ max: 4000 }),
    y: fc.nat({ max: 4000 }),
    size: fc.integer({ min: 30, max: 600 }),
    hole: fc.boolean(),
  })
  .map(({ x, y, size, hole }): Vertex[][] => {
    const outer = rectangle(x, y, x + size, y + size);
    return hole ? [outer, [...rectangle(x + 10, y + 10, x + size - 10, y + size - 10)].reverse()] : [outer];
  });
const areas = fc.array(area, { minLength: 60, maxLength: 150, size: 'max' });

const featuresOf = (...drawn: readonly DrawnFeature[]) =>
  decodeVectorTile(tileBytes({ shapes: drawn })).layers.get('shapes')!.features;

test('a multipolygon is split into areas with their holes, in any winding order', () => {
  fc.assert(
    fc.property(areas, fc.boolean(), (each, backwards) => {
      const rings = each.map((part) => part.map((ring) => (backwards ? [...ring].reverse() : ring)));
      const parts = shapesOf(featuresOf({ type: 'polygon', parts: rings.flat() })).map((shape) => shape.coordinates());
      expect(parts.map(({ ends }) => ends.length)).toEqual(rings.map((part) => part.length));
      expect(parts.map(({ xy }) => xy)).toEqual(rings.map((part) => part.flat(2)));
    }),
    { numRuns: 30 },
  );
});

test('a multiline is split into lines, a single line is not', () => {
  const long = Array.from({ length: 1_000 }, (_, i): Vertex => [i, (i * 37) % 100]);
  const [whole] = shapesOf(featuresOf({ type: 'line', parts: [long] }));
  expect(whole!.coordinates().xy).toEqual(long.flat());
  const many = shapesOf(
    featuresOf({ type: 'line', parts: Array.from({ length: 10 }, (_, i) => long.slice(i * 50, i * 50 + 50)) }),
  );
  expect(many.map((shape) => shape.coordinates().xy)).toEqual(
    Array.from({ length: 10 }, (_, i) => long.slice(i * 50, i * 50 + 50).flat()),
  );
});

test('a split feature is drawn like separate features', async () => {
  await fc.assert(
    fc.asyncProperty(areas, async (each) => {
      const layer = shapes('fill', { 'fill-color': '#ff0000' });
      const together = await draw([{ type: 'polygon', parts: each.flat() }], [layer]);
      const apart = await draw(
        each.map((parts) => ({ type: 'polygon', parts })),
        [layer],
      );
      expect(together.differences(apart, 64)).toBe(0);
    }),
    { numRuns: 10 },
  );
});

// The map failed: the parts were the arguments of one call, of which there may be about 120,000.
test('a feature of 200,000 parts is split', () => {
  const parts = Array.from({ length: 200_000 }, (_, i): Vertex[] => [
    [i % 4096, i >> 12],
    [(i % 4096) + 1, i >> 12],
  ]);
  expect(shapesOf(featuresOf({ type: 'line', parts }))).toHaveLength(200_000);
});

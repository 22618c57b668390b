import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DrawnFeature, rectangle, tileBytes } from '../testing/tiles.js';
import { cellsOf } from './cells.js';
import { overlaps } from './coordinates.js';
import { decodeVectorTile } from './vector-tile.js';

const corner = fc.integer({ min: -300, max: 4400 });
const square: fc.Arbitrary<DrawnFeature> = fc
  .tuple(corner, corner, fc.constantFrom(1, 40, 300, 700, 3_000))
  .map(([x, y, side]) => ({ type: 'polygon', parts: [rectangle(x, y, x + side, y + side)] }));
const squares = fc.array(square, { minLength: 1, maxLength: 200, size: 'max' });
const layerOf = (shapes: DrawnFeature[]) => decodeVectorTile(tileBytes({ shapes })).layers.get('shapes')!;

test('each feature of a layer is in one cell, whose box contains it, in the order of the tile', () => {
  fc.assert(
    fc.property(squares, (shapes) => {
      const layer = layerOf(shapes);
      const found = layer.cells.flatMap(({ box }, cell) => {
        const features = layer.featuresIn(cell);
        expect(features).toEqual(features.toSorted((a, b) => a.order - b.order));
        for (const { box: inner } of features) {
          const { minX, minY, maxX, maxY } = inner;
          expect([minX >= box.minX, minY >= box.minY, maxX <= box.maxX, maxY <= box.maxY]).not.toContain(false);
        }
        return features;
      });
      expect(found).toHaveLength(layer.size);
      expect(new Set(found)).toEqual(new Set(layer.features));
    }),
  );
});

test('cells near a box have all features that overlap it, and those around a point are found', () => {
  fc.assert(
    fc.property(squares, corner, corner, fc.nat(900), (shapes, x, y, side) => {
      const layer = layerOf(shapes);
      const near = { minX: x, minY: y, maxX: x + side, maxY: y + side };
      const found = new Set(layer.cellsNear(near).flatMap((cell) => layer.featuresIn(cell)));
      for (const feature of layer.features) if (overlaps(feature.box, near)) expect(found).toContain(feature);
      const around = layer.features.filter(({ box }) => overlaps(box, { minX: x, minY: y, maxX: x, maxY: y }));
      expect(new Set(layer.featuresAround(x, y))).toEqual(new Set(around));
    }),
  );
});

test('a part of a crowded tile has a part of its features, though some reach across the tile', () => {
  const small = Array.from({ length: 4_096 }, (_, i) => {
    const [x, y] = [64 * (i % 64), 64 * Math.floor(i / 64)];
    return [x, y, x + 60, y + 60];
  });
  const large = Array.from({ length: 10 }, (_, i) => [0, 400 * i, 4_096, 400 * i + 10]);
  const cells = cellsOf(Int32Array.from([...small, ...large].flat()), 4_096);
  const near = cells.filter(({ box }) => overlaps(box, { minX: 0, minY: 0, maxX: 1_000, maxY: 1_000 }));
  expect(near.reduce((sum, { orders }) => sum + orders.length, 0)).toBe(4_096 / 16 + 10);
});

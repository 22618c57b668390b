import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileStyle } from '../style/compile.js';
import { shapes, styleOf } from '../testing/pictures.js';
import { type DrawnFeature, rectangle, tileBytes } from '../testing/tiles.js';
import { decodeVectorTile, type TileFeature } from '../tiles/vector-tile.js';
import { bucketBuilder } from './bucket.js';
import { selectionOf } from './selection.js';

const paint = {
  'fill-color': ['match', ['get', 'kind'], 'a', 'red', 'b', 'green', 'blue'],
  'fill-opacity': ['interpolate', ['exponential', 1.5], ['zoom'], 3, 0.2, 5, ['/', ['get', 'size'], 10], 9, 1],
};
const layout = { 'fill-sort-key': ['get', 'order'] };
const filter = ['!=', ['get', 'kind'], 'none'];

const square: fc.Arbitrary<DrawnFeature> = fc
  .record({
    kind: fc.constantFrom('a', 'b', 'c', 'none'),
    size: fc.integer({ min: 1, max: 3 }),
    order: fc.integer({ min: 0, max: 2 }),
    x: fc.integer({ min: -100, max: 4100 }),
    y: fc.integer({ min: -100, max: 4100 }),
    width: fc.constantFrom(10, 200, 3000),
  })
  .map(({ kind, size, order, x, y, width }) => ({
    type: 'polygon',
    parts: [rectangle(x, y, x + width, y + width)],
    tags: { kind, size, order },
  }));

function layerOf(more: object) {
  return compileStyle(styleOf([shapes('fill', paint, { filter, ...more })])).layers[0]!;
}

function overlap(a: TileFeature, b: TileFeature): boolean {
  return a.box.minX <= b.box.maxX && b.box.minX <= a.box.maxX && a.box.minY <= b.box.maxY && b.box.minY <= a.box.maxY;
}

test('batches contain each selected feature once with its own paint, in the order of overlapping features', () => {
  const drawn = fc.array(square, { minLength: 1, maxLength: 80, size: 'max' });
  fc.assert(
    fc.property(drawn, fc.double({ min: 0, max: 10, noNaN: true }), fc.boolean(), (features, zoom, sorted) => {
      const layer = layerOf(sorted ? { layout } : {});
      const tile = decodeVectorTile(tileBytes({ shapes: features })).layers.get('shapes')!;
      const selection = selectionOf(layer, ['fill-color', 'fill-opacity', 'fill-outline-color'], 'fill-sort-key');
      const { batches } = bucketBuilder(tile, selection, Math.floor(zoom))(tile.features);

      const look = (feature: TileFeature) =>
        ['fill-color', 'fill-opacity'].map((name) => String(layer.property(name).at(zoom, feature))).join();
      const order = sorted ? (feature: TileFeature) => Number(feature.properties.order) : () => 0;
      const expected = tile.features.filter(layer.filter(zoom)).sort((a, b) => order(a) - order(b));
      const placed = batches.flatMap(({ feature, chunks }, batch) =>
        chunks.flatMap((chunk) =>
          chunk.shapes.map((shape) => ({ each: shape as TileFeature, batch, representative: feature })),
        ),
      );
      expect(new Set(placed.map(({ each }) => each))).toEqual(new Set(expected));
      expect(placed).toHaveLength(expected.length);
      for (const { each, representative } of placed) expect(look(each)).toBe(look(representative));

      const batchOf = new Map(placed.map(({ each, batch }) => [each, batch]));
      for (const [i, lower] of expected.entries()) {
        for (const upper of expected.slice(i + 1)) {
          if (overlap(lower, upper)) expect(batchOf.get(lower)!).toBeLessThanOrEqual(batchOf.get(upper)!);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('features that do not touch form one batch per paint', () => {
  const features = Array.from({ length: 300 }, (_, i): DrawnFeature => {
    const [x, y] = [(i % 20) * 200, Math.floor(i / 20) * 200];
    return { type: 'polygon', parts: [rectangle(x, y, x + 20, y + 20)], tags: { kind: i % 2 ? 'a' : 'b', size: 1 } };
  });
  const tile = decodeVectorTile(tileBytes({ shapes: features })).layers.get('shapes')!;
  const { batches } = bucketBuilder(tile, selectionOf(layerOf({}), ['fill-color'], null), 3)(tile.features);
  expect(batches).toHaveLength(2);
  for (const { chunks } of batches) for (const chunk of chunks) expect(chunk.shapes.length).toBeLessThanOrEqual(64);
});

test('the box of a chunk contains all its features', () => {
  const drawn = fc.array(square, { minLength: 1, maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(drawn, (features) => {
      const tile = decodeVectorTile(tileBytes({ shapes: features })).layers.get('shapes')!;
      const layer = layerOf({});
      const { batches } = bucketBuilder(tile, selectionOf(layer, [], null), 3)(tile.features);
      const chunks = batches.flatMap((batch) => batch.chunks);
      expect(chunks.flatMap(({ shapes }) => shapes)).toHaveLength(tile.features.filter(layer.filter(3)).length);
      for (const { box, shapes: inside } of chunks) {
        expect(box.minX).toBe(Math.min(...inside.map((shape) => shape.box.minX)));
        expect(box.maxY).toBe(Math.max(...inside.map((shape) => shape.box.maxY)));
      }
    }),
  );
});

test('layers with equal selections share a bucket, regardless of colours', () => {
  const key = (more: object, painted: readonly string[]) => selectionOf(layerOf(more), painted, 'fill-sort-key').key;
  expect(key({ paint: { 'fill-color': 'red' } }, ['fill-color'])).toBe(
    key({ paint: { 'fill-color': 'green' } }, ['fill-color']),
  );
  expect(key({}, ['fill-color'])).not.toBe(key({}, []));
  expect(key({ filter: ['has', 'x'] }, [])).not.toBe(key({}, []));
  expect(key({ layout }, [])).not.toBe(key({}, []));
});

import { VectorTile } from '@mapbox/vector-tile';
import fc from 'fast-check';
import { PbfReader } from 'pbf';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { type DrawnFeature, tileBytes, type Vertex } from '../testing/tiles.js';
import { decodeVectorTile } from './vector-tile.js';

const vertex = fc.tuple(fc.integer({ min: -100_000, max: 100_000 }), fc.integer({ min: -100_000, max: 100_000 }));
const tags = fc.dictionary(
  fc.stringMatching(/^[a-z:_]{1,6}$/),
  fc.oneof(fc.string(), fc.integer(), fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.boolean()),
);
const parts = (min: number) =>
  fc.array(fc.array(vertex, { minLength: min, maxLength: 12 }), { minLength: 1, maxLength: 5 });
const feature: fc.Arbitrary<DrawnFeature> = fc.oneof(
  fc.record({ type: fc.constant('point' as const), parts: parts(1), tags, id: fc.nat() }),
  fc.record({ type: fc.constant('line' as const), parts: parts(2), tags, id: fc.nat() }),
  fc.record({ type: fc.constant('polygon' as const), parts: parts(3), tags, id: fc.nat() }),
);
/** Neither the writer nor the reference reader can name a layer so: they keep layers by name in plain objects. */
const unnameable = '__proto__';
const layerName = fc.string({ minLength: 1 }).filter((name) => name !== unnameable);
const layers = fc.dictionary(layerName, fc.array(feature, { minLength: 1, maxLength: 6 }), { maxKeys: 4 });

test('layers, types, ids, properties, vertices and boxes match the reference decoder', () => {
  fc.assert(
    fc.property(layers, fc.constantFrom(512, 4096, 8192), (drawn, extent) => {
      const bytes = tileBytes(drawn, extent);
      const ours = decodeVectorTile(bytes);
      const reference = new VectorTile(new PbfReader(bytes));
      expect([...ours.layers.keys()].sort()).toEqual(Object.keys(reference.layers).sort());
      for (const [name, layer] of Object.entries(reference.layers)) {
        const our = ours.layers.get(name)!;
        expect([our.extent, our.features.length]).toEqual([layer.extent, layer.length]);
        for (const [i, each] of our.features.entries()) {
          const expected = layer.feature(i);
          const rings = expected.loadGeometry().map((part) => (expected.type === 3 ? part.slice(0, -1) : part));
          const { xy, ends } = each.coordinates();
          expect([each.type, each.id, { ...each.properties }]).toEqual([
            expected.type,
            expected.id,
            { ...expected.properties },
          ]);
          expect(xy).toEqual(rings.flat().flatMap(({ x, y }) => [x, y]));
          expect(ends.map((end, k) => (end - (ends[k - 1] ?? 0)) / 2)).toEqual(rings.map((ring) => ring.length));
          expect([each.box.minX, each.box.minY, each.box.maxX, each.box.maxY]).toEqual(expected.bbox());
          expect(each.maxVertices).toBeGreaterThanOrEqual(xy.length / 2);
        }
      }
    }),
  );
});

test('a feature has no inherited properties', () => {
  const [only] = decodeVectorTile(
    tileBytes({ a: [{ type: 'point', parts: [[[0, 0]]], tags: { name: 'x' } }] }),
  ).layers.get('a')!.features;
  expect(only!.properties.name).toBe('x');
  expect('constructor' in only!.properties).toBe(false);
});

test('a layer may have any name, including names of object members', () => {
  const bytes = Buffer.from(tileBytes({ '--proto--': [{ type: 'point', parts: [[[1, 2]]] }] }));
  bytes.write(unnameable, bytes.indexOf('--proto--'));
  const { layers } = decodeVectorTile(bytes);
  expect([...layers.keys()]).toEqual([unnameable]);
  expect(layers.get(unnameable)!.features[0]!.coordinates().xy).toEqual([1, 2]);
});

/** Of the decoder, and of the reader of its fields and numbers. */
const refusals =
  /^Error: (Unimplemented type|Expected varint)|^RangeError: (A part of the tile is longer|Offset is outside the bounds)/;

test('any bytes are decoded or refused, and decoded tiles can be read', () => {
  const whole = tileBytes({
    a: [{ type: 'line', parts: [Array.from({ length: 20 }, (_, i) => [i * 100, i] as const)], tags: { k: 1 } }],
  });
  const damaged = fc
    .array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), { maxLength: 5 })
    .map((changes) => {
      const bytes = whole.slice();
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
  let decodedTiles = 0;
  fc.assert(
    fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      let decoded: ReturnType<typeof decodeVectorTile>;
      try {
        decoded = decodeVectorTile(bytes);
      } catch (error) {
        expect(String(error)).toMatch(refusals);
        return;
      }
      decodedTiles += 1;
      for (const { features } of decoded.layers.values()) {
        for (const each of features) {
          const { xy, ends } = each.coordinates();
          expect(ends.at(-1) ?? 0).toBe(xy.length);
          expect(each.properties).toBeDefined();
        }
      }
    }),
    { numRuns: propertyRuns(2_000) },
  );
  expect(decodedTiles).toBeGreaterThan(200);
});

describe('a layer with more than can be drawn', () => {
  /** Vertices of each feature that is kept. */
  const keptOf = (features: DrawnFeature[]) => {
    const { layers, cutLayers } = decodeVectorTile(tileBytes({ shapes: features }));
    const kept = layers.get('shapes')!.features.map((feature) => feature.coordinates().xy.length / 2);
    return { kept, cutLayers };
  };
  /** Goes across the tile and back. */
  const across = (count: number): Vertex[] => Array.from({ length: count }, (_, i) => [4096 * (i % 2), i % 4096]);

  // A line of a million vertices was drawn for 40 seconds, in 2.5 GB if it was dashed.
  test('keeps the first vertices of a line', () => {
    const { kept, cutLayers } = keptOf([{ type: 'line', parts: [across(20_000)] }]);
    expect(kept).toEqual([expect.closeTo(6_000_000 / (8 + 512), -2)]);
    expect(cutLayers).toEqual(['shapes']);
  });

  test('keeps its first features', () => {
    const lines = Array.from({ length: 5 }, (): DrawnFeature => ({ type: 'line', parts: [across(4_000)] }));
    const { kept } = keptOf(lines);
    expect(kept).toEqual([4_000, 4_000, expect.closeTo(3_500, -3)]);
  });

  test('keeps its first points', () => {
    const points = Array.from(
      { length: 250_001 },
      (_, i): DrawnFeature => ({ type: 'point', parts: [[[i % 4096, 0]]] }),
    );
    const { kept, cutLayers } = keptOf(points);
    expect(kept).toHaveLength(250_000);
    expect(cutLayers).toEqual(['shapes']);
  });

  // A tile of 54 MiB with such layers took 900 MB, whether a style draws them or not.
  test('all layers together keep half a million features', () => {
    const points = Array.from({ length: 200_000 }, (): DrawnFeature => ({ type: 'point', parts: [[[1, 1]]] }));
    const layers = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`layer ${i}`, points]));
    const tile = decodeVectorTile(tileBytes(layers));
    expect([...tile.layers.values()].map(({ features }) => features.length)).toEqual([200_000, 200_000, 100_000, 0, 0]);
    expect(tile.cutLayers).toEqual(['layer 2', 'layer 3', 'layer 4']);
  });

  test('what lies beyond the tile counts only by its vertices', () => {
    const beyond = Array.from({ length: 20_000 }, (_, i): Vertex => [100_000 * (i % 2) + 5_000, -5_000 - i]);
    expect(keptOf([{ type: 'polygon', parts: [beyond] }])).toEqual({ kept: [20_000], cutLayers: [] });
  });

  // Layers, keys and values take memory beside the bytes of the tile. Nine million layers ended the process.
  test('with more than a thousand layers is refused', () => {
    const layers = (count: number) =>
      tileBytes(Object.fromEntries(Array.from({ length: count }, (_, i) => [`layer ${i}`, []])));
    expect(decodeVectorTile(layers(1_000)).layers.size).toBe(1_000);
    expect(() => decodeVectorTile(layers(1_001))).toThrow('more than 1000 layers');
  });

  test('weighs more with more values', () => {
    const tagged = (values: number) =>
      decodeVectorTile(tileBytes({ shapes: [{ type: 'point', parts: [[[1, 1]]], tags: tagsOf(values) }] }));
    const tagsOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, i]));
    expect(tagged(1_000).weightBytes - tagged(0).weightBytes).toBeGreaterThan(48_000);
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DrawnFeature, tileBytes } from '../testing/tiles.js';
import { decodeVectorTile } from './vector-tile.js';

const point: DrawnFeature = { type: 'point', parts: [[[0, 0]]] };

test('features have the same kind exactly when type and values of the properties are equal', () => {
  const value = fc.oneof(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 2 }), fc.boolean());
  const feature = fc.record({
    type: fc.constantFrom('point' as const, 'line' as const),
    parts: fc.constant([
      [
        [0, 0],
        [1, 1],
      ],
    ] as const),
    tags: fc.record({ first: value, second: value, third: value }, { requiredKeys: [] }),
  });
  const names = fc.uniqueArray(fc.constantFrom('first', 'second', 'other'));
  fc.assert(
    fc.property(fc.array(feature, { minLength: 1, maxLength: 30 }), names, (features, chosen) => {
      const layer = decodeVectorTile(tileBytes({ shapes: features })).layers.get('shapes')!;
      const kinds = layer.kinds(new Set(chosen));
      const kindOf = layer.features.map((feature) => kinds.of(feature));
      const told = layer.features.map(({ type, properties }) =>
        JSON.stringify([type, chosen.map((name) => properties[name])]),
      );
      for (const [i, one] of told.entries()) {
        for (const [j, other] of told.entries()) expect(kindOf[i] === kindOf[j]).toBe(one === other);
      }
    }),
  );
});

test('a layer caches the kinds of a few sets of names', () => {
  const keys = Array.from({ length: 100 }, (_, number) => `key-${number}`);
  const feature = { ...point, tags: Object.fromEntries(keys.map((key) => [key, 1])) };
  const layer = decodeVectorTile(tileBytes({ shapes: [feature, feature] })).layers.get('shapes')!;
  for (const key of keys) {
    const kinds = layer.kinds(new Set([key]));
    expect(new Set(layer.features.map((feature) => kinds.of(feature))).size).toBe(1);
  }
  const [remembered] = Object.values(layer).filter((each) => each instanceof Map);
  expect((remembered as Map<string, unknown>).size).toBeLessThanOrEqual(16);
});

import { featureFilter } from '@maplibre/maplibre-gl-style-spec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { openArchive } from '../sources/open.js';
import { builtInStyles } from '../styles/names.js';
import { compiledStyle } from '../testing/compiled-styles.js';
import { shapes, styleOf } from '../testing/pictures.js';
import { rectangle, tileBytes } from '../testing/tiles.js';
import { decodeVectorTile, type TileLayer, type VectorTile } from '../tiles/vector-tile.js';
import { type CompiledStyle, compileStyle, type StyleLayer } from './compile.js';
import { memoizeByDependencies, passingFeatures } from './memoize.js';
import { isPerFeature } from './property.js';
import { dependenciesOf } from './property-dependencies.js';

const painted = ['fill-color', 'fill-opacity', 'line-color', 'line-width', 'line-dasharray', 'circle-radius'];

/**
 * Expects the same values as evaluating each feature separately, in all layers whose source layer the tile has. Returns
 * their number.
 */
function expectSameValues(style: CompiledStyle, tile: VectorTile, zoom: number): number {
  let compared = 0;
  for (const layer of style.layers) {
    const tileLayer = tile.layers.get(layer.sourceLayer ?? '');
    if (!tileLayer) continue;
    compared += 1;
    expectSameInLayer(layer, tileLayer, zoom);
  }
  return compared;
}

function expectSameInLayer(layer: StyleLayer, tileLayer: TileLayer, zoom: number): void {
  const { filter } = featureFilter(
    layer.filterText === '' ? undefined : JSON.parse(layer.filterText),
    'layers[0].filter',
  );
  const passing = tileLayer.features.filter((feature) => filter({ zoom }, feature));
  expect(passingFeatures(tileLayer, layer, zoom)(tileLayer.features)).toEqual(passing);
  expect(tileLayer.features.filter(layer.filter(zoom))).toEqual(passing);
  for (const name of painted.filter((each) => each.startsWith(layer.type))) {
    const property = layer.property(name);
    if (!isPerFeature(property)) continue;
    const value = (feature: (typeof tileLayer.features)[0]) => String(property.at(zoom, feature));
    expect(tileLayer.features.map(memoizeByDependencies(tileLayer, dependenciesOf(property.text), value))).toEqual(
      tileLayer.features.map(value),
    );
  }
}

const value = fc.oneof(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 2 }), fc.boolean());
const tags = fc.dictionary(fc.constantFrom('kind', 'size', 'other'), value);
const labels = fc.oneof(
  fc.constantFrom('a', 1),
  fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
  fc.uniqueArray(fc.nat({ max: 2 }), { minLength: 1 }),
);
const got = fc.tuple(fc.constant('get'), fc.constantFrom('kind', 'size'));
const tests = fc.letrec<{ test: unknown[] }>((tie) => ({
  test: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(fc.constant('has'), fc.constantFrom('kind', 'size')),
    fc.tuple(fc.constantFrom('==', '!='), got, value),
    fc.tuple(fc.constant('match'), got, labels, fc.boolean(), fc.boolean()),
    fc.tuple(fc.constant('=='), fc.constant(['geometry-type']), fc.constantFrom('Polygon', 'LineString')),
    fc.tuple(fc.constant('=='), fc.constant(['id']), fc.integer({ min: 0, max: 3 })),
    fc.tuple(fc.constant('=='), fc.tuple(fc.constant('get'), fc.constant(['concat', 'ki', 'nd'])), value),
    fc.tuple(fc.constantFrom('all', 'any'), tie('test'), tie('test')),
    fc.tuple(fc.constant('!'), tie('test')),
  ),
})).test;

test('memoized values and conditions equal evaluated values and filters, for any filter and features', () => {
  const drawn = fc.record({ type: fc.constantFrom('line' as const, 'polygon' as const), tags, id: fc.nat(3) });
  fc.assert(
    fc.property(tests, fc.array(drawn, { minLength: 1, maxLength: 40 }), (filter, features) => {
      const tile = tileBytes({ shapes: features.map((each) => ({ ...each, parts: [rectangle(0, 0, 9, 9)] })) });
      const color = ['match', ['to-string', ['get', 'other']], 'a', 'red', 'b', 'green', 'blue'];
      const style = compileStyle(styleOf([shapes('fill', { 'fill-color': color }, { filter })]));
      expect(expectSameValues(style, decodeVectorTile(tile), 3)).toBe(1);
    }),
    { numRuns: propertyRuns(300) },
  );
});

describe.each([
  ['florence', 'protomaps-v3', [8704, 5971]],
  ['san-francisco', 'openmaptiles', [2621, 6332]],
] as const)('%s', (name, schema, [x, y]) => {
  test.each(builtInStyles)('%s', async (style) => {
    const archive = await openArchive(new URL(`../reference/archives/${name}.pmtiles`, import.meta.url).pathname);
    const tile = decodeVectorTile((await archive.tile(14, x, y)) as Uint8Array);
    await archive.close();
    for (const zoom of [11, 14, 17]) {
      expect(expectSameValues(compiledStyle(style, schema), tile, zoom)).toBeGreaterThan(50);
    }
  });
});

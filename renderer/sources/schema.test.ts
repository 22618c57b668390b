import { expect, test } from 'vitest';
import { sourceOf } from '../testing/tiles.js';
import { detectSchema } from './schema.js';

test.each([
  ['fenceline', ['land', 'lakes', 'rivers', 'states', 'borders', 'country_labels', 'places']],
  ['openmaptiles', ['water', 'waterway', 'landcover', 'transportation', 'building', 'place', 'poi']],
  ['openmaptiles', ['boundary', 'landcover', 'place', 'water', 'water_name']],
  ['protomaps', ['boundaries', 'buildings', 'earth', 'landcover', 'landuse', 'places', 'pois', 'roads', 'water']],
  ['protomaps-v3', ['earth', 'landuse', 'natural', 'physical_line', 'places', 'pois', 'roads', 'transit', 'water']],
  ['shortbread', ['ocean', 'water_polygons', 'land', 'streets', 'street_labels', 'place_labels', 'buildings']],
  [null, ['something', 'else']],
] as const)('%s: %j', (schema, layers) => {
  expect(detectSchema(sourceOf(async () => undefined, { layers }))).toBe(schema);
});

test('unknown layers and raster tiles follow no schema', () => {
  expect(detectSchema(sourceOf(async () => undefined, { layers: null }))).toBeNull();
});

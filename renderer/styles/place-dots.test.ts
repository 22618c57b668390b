import { expect, test } from 'vitest';
import { compiledStyle } from '../testing/compiled-styles.js';
import { tileBytes } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import type { TileSchema } from '../types.js';
import { builtInImages } from './images.js';

/** Returns the image beside the name of a place; empty without one. */
function dotOf(
  schema: TileSchema,
  layer: string,
  tags: Readonly<Record<string, string | number>>,
  zoom: number,
  isBesideStreets = false,
) {
  const features = { [layer]: [{ type: 'point' as const, parts: [[[1, 1]]] as const, tags }] };
  const feature = decodeVectorTile(tileBytes(features)).layers.get(layer)!.features[0]!;
  const shown = compiledStyle('svc-default-v1', schema, isBesideStreets)
    .layers.filter(({ type, sourceLayer }) => type === 'symbol' && sourceLayer === layer)
    .findLast((each) => each.isVisible(zoom) && each.filter(zoom)(feature))!;
  const { names } = builtInImages('svc-default-v1', 1);
  return `${shown.property('icon-image').at(zoom, feature, names) ?? ''}`;
}

test.each([
  ['openmaptiles', 'place', { class: 'city', rank: 2 }, 3, 'place-city'],
  ['openmaptiles', 'place', { class: 'city', rank: 2, capital: 2 }, 3, 'place-capital'],
  ['openmaptiles', 'place', { class: 'city', rank: 2, capital: 2 }, 7, 'place-capital'],
  ['openmaptiles', 'place', { class: 'town', rank: 9 }, 7, 'place-city'],
  ['openmaptiles', 'place', { class: 'city', rank: 2 }, 8, ''],
  ['shortbread', 'place_labels', { kind: 'capital' }, 4, 'place-capital'],
  ['protomaps', 'places', { kind: 'locality', kind_detail: 'city' }, 6, 'place-city'],
  // Without streets, a name alone would not tell where the city is.
  ['fenceline', 'places', { class: 'city', rank: 2, min_zoom: 2 }, 12, 'place-city'],
  ['fenceline', 'country_labels', { class: 'country', rank: 2, min_zoom: 0, order: 1 }, 4, ''],
] as const)('%s: %s %j at zoom %i has the dot %j', (schema, layer, tags, zoom, dot) => {
  expect(dotOf(schema, layer, tags, zoom)).toBe(dot);
});

test('beside an archive, places of the basemap lose their dots where those of the archive do', () => {
  const tags = { class: 'city', rank: 2, min_zoom: 2 };
  expect([7, 8, 12].map((zoom) => dotOf('fenceline', 'places', tags, zoom, true))).toEqual(['place-city', '', '']);
});

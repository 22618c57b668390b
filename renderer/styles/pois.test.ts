import { expect, test } from 'vitest';
import { compiledStyle } from '../testing/compiled-styles.js';
import { type DrawnFeature, rectangle, tileBytes } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import type { TileSchema } from '../types.js';
import { poiClasses, poiImage } from './pois.js';

type Tags = Readonly<Record<string, string | number>>;
const inLanguages = (...codes: readonly string[]) => Object.fromEntries(codes.map((code) => [`name:${code}`, 'x']));

/** Returns the first zoom and the class of a point of interest, leaving out layers that depend on areas. */
function shown(schema: TileSchema, sourceLayer: string, tags: Tags, type: DrawnFeature['type'] = 'point') {
  const parts = type === 'point' ? [[[9, 9] as const]] : [rectangle(0, 0, 99, 99)];
  const bytes = tileBytes({ [sourceLayer]: [{ type, parts, tags: { name: 'x', ...tags } }] });
  const feature = decodeVectorTile(bytes).layers.get(sourceLayer)!.features[0]!;
  const layers = compiledStyle('svc-default-v1', schema).layers.filter(
    (layer) => layer.id.startsWith('label-poi') && layer.sourceLayer === sourceLayer && !layer.areaAround,
  );
  for (let zoom = 10; zoom <= 18; zoom++) {
    const layer = layers.find(({ isVisible, filter }) => isVisible(zoom) && filter(zoom)(feature));
    if (!layer) continue;
    const images = [...new Set(poiClasses.map(poiImage))];
    const image = String(layer.property('icon-image').at(zoom, feature, images));
    return [zoom, image];
  }
  return undefined;
}

test('a theme park that few languages name starts with sights, and a known one with landmarks', () => {
  const park = { class: 'theme_park', subclass: 'theme_park', name_int: 'x' };
  expect(shown('openmaptiles', 'poi', park)).toEqual([15, 'poi-culture-attraction']);
  expect(shown('openmaptiles', 'poi', { ...park, ...inLanguages('fr', 'en') })).toEqual([14, 'poi-culture-attraction']);
  expect(shown('protomaps', 'pois', { kind: 'theme_park' })).toEqual([15, 'poi-culture-attraction']);
});

test('ruins are monuments, and castles castles', () => {
  expect(shown('openmaptiles', 'poi', { class: 'castle', subclass: 'ruins' })).toEqual([15, 'poi-culture-monument']);
  expect(shown('openmaptiles', 'poi', { class: 'castle', subclass: 'castle' })).toEqual([14, 'poi-culture-castle']);
});

test('theatres and department stores already start at zoom 15', () => {
  expect(shown('openmaptiles', 'poi', { class: 'theatre', subclass: 'theatre' })).toEqual([15, 'poi-culture-theatre']);
  expect(shown('openmaptiles', 'poi', { class: 'grocery', subclass: 'department_store' })).toEqual([
    15,
    'poi-civic-shop',
  ]);
  expect(shown('openmaptiles', 'poi', { class: 'cafe', subclass: 'cafe' })).toEqual([16, 'poi-civic-cafe']);
});

test.each([
  ['Basilica di Santa Croce', 'poi-culture-worship'],
  ['Galleria degli Uffizi', 'poi-culture-museum'],
  ["Museo dell'Opera del Duomo", 'poi-culture-museum'],
  ['Palazzo Vecchio', 'poi-culture-attraction'],
])('the building %s of Protomaps 3 has the icon %s', (name, image) => {
  const tags = { name, ...inLanguages('de', 'fr', 'ja') };
  expect(shown('protomaps-v3', 'buildings', tags, 'polygon')).toEqual([13, image]);
});

test('a park comes before the monument in its middle', () => {
  expect(poiClasses.indexOf('park')).toBeLessThan(poiClasses.indexOf('monument'));
});

test('large parks start one zoom before the others', () => {
  for (const schema of ['openmaptiles', 'protomaps', 'shortbread'] as const) {
    const visible = [13.9, 14, 14.9, 15, 15.9, 16].map((zoom) =>
      layersAt(schema, 'label-poi-large').flatMap(({ id, isVisible }) =>
        isVisible(zoom) ? id.replace(/-\d$/, '') : [],
      ),
    );
    // Where the size of buildings counts, that of parks counts as long.
    const late = schema === 'protomaps' ? [] : ['label-poi-larger'];
    expect(visible).toEqual([[], ['label-poi-large'], ['label-poi-large'], late, late, []]);
  }
});

const layersAt = (schema: TileSchema, id: string) =>
  compiledStyle('svc-default-v1', schema).layers.filter((layer) => layer.id.startsWith(id));

test.each([
  ['openmaptiles', { class: 'attraction' }, true],
  ['openmaptiles', { class: 'attraction', name_int: 'x' }, false],
  ['openmaptiles', { class: 'place_of_worship', subclass: 'christian' }, true],
  ['openmaptiles', { class: 'place_of_worship', name_int: 'x' }, false],
  ['openmaptiles', { class: 'museum', subclass: 'museum' }, true],
  ['openmaptiles', { class: 'stadium', subclass: 'stadium' }, true],
  ['openmaptiles', { class: 'town_hall', subclass: 'townhall' }, true],
  ['openmaptiles', { class: 'town_hall', subclass: 'courthouse' }, false],
  ['openmaptiles', { class: 'cafe', subclass: 'cafe' }, false],
  ['shortbread', { tourism: 'attraction' }, true],
  ['shortbread', { shop: 'mall' }, true],
] as const)('in %s, whether large buildings of %j start at zoom 14 is %s', (schema, tags, isEarly) => {
  const sourceLayer = schema === 'shortbread' ? 'pois' : 'poi';
  const parts = [[[9, 9] as const]];
  const bytes = tileBytes({ [sourceLayer]: [{ type: 'point', parts, tags: { name: 'x', ...tags } }] });
  const feature = decodeVectorTile(bytes).layers.get(sourceLayer)!.features[0]!;
  const layers = layersAt(schema, 'label-poi-building').filter(({ isVisible }) => isVisible(14) && isVisible(15.9));
  expect(layers.some(({ filter }) => filter(14)(feature))).toBe(isEarly);
  const sourceLayers = layers.map(({ areaAround }) => areaAround?.sourceLayer);
  expect(new Set(sourceLayers)).toEqual(new Set([schema === 'shortbread' ? 'buildings' : 'building']));
  // Sights have no other layer; the others have one from zoom 16 on.
  expect(layers.filter(({ isVisible }) => isVisible(16)).map(({ id }) => id)).toEqual([
    expect.stringContaining('townhall'),
  ]);
});

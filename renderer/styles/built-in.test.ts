import { expect, test } from 'vitest';
import { createRenderer } from '../render.js';
import { compileStyle, validateStyle } from '../style/compile.js';
import { unsupported } from '../style/unsupported.js';
import { compiledStyle } from '../testing/compiled-styles.js';
import { type Picture, pictureOf } from '../testing/pictures.js';
import { type DrawnFeature, rectangle, sourceOf, tileBytes, type Vertex } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import type { TileSchema, Viewport } from '../types.js';
import { worldPosition } from '../view/projection.js';
import { builtInStyle } from './built-in.js';
import { localizeStyle } from './language.js';
import { type BuiltInStyle, builtInStyles, isBuiltInStyle } from './names.js';
import type { Palette } from './palette.js';
import { darkPalette } from './palettes/dark.js';
import { defaultPalette } from './palettes/default.js';
import { lightPalette } from './palettes/light.js';

type Tags = Readonly<Record<string, string | number | boolean>>;

const palettes: Readonly<Record<BuiltInStyle, Palette>> = {
  'svc-default-v1': defaultPalette,
  'svc-light-v1': lightPalette,
  'svc-dark-v1': darkPalette,
};
const schemas: readonly TileSchema[] = ['fenceline', 'openmaptiles', 'protomaps', 'protomaps-v3', 'shortbread'];
const all = builtInStyles.flatMap((name) => schemas.map((schema) => [name, schema] as const));

test.each(all)('%s for %s is a valid style of one source, with each layer named once', (name, schema) => {
  for (const style of [builtInStyle(name, schema), localizeStyle(builtInStyle(name, schema), 'ja')]) {
    expect(validateStyle(style)).toEqual([]);
    expect(Object.keys(style.sources)).toEqual(['map']);
    expect(new Set(style.layers.map(({ id }) => id)).size).toBe(style.layers.length);
  }
});

test.each(all)('%s for %s asks for nothing that is not drawn', (name, schema) => {
  const shapes = { ...builtInStyle(name, schema) };
  shapes.layers = shapes.layers.filter(({ type }) => type !== 'symbol');
  expect(unsupported(shapes)).toEqual([]);
});

test.each(schemas)('every style names the same features of %s, in other colours', (schema) => {
  const named = (name: BuiltInStyle) =>
    builtInStyle(name, schema).layers.flatMap((layer) => (layer.type === 'symbol' ? [{ ...layer, paint: {} }] : []));
  const [first, ...others] = builtInStyles.map(named);
  for (const other of others) expect(other).toEqual(first);
});

test('large waters are named before streets, and small ones after them', () => {
  for (const schema of schemas.filter((each) => each !== 'fenceline')) {
    const ids = builtInStyle('svc-default-v1', schema).layers.map(({ id }) => id);
    const road = ids.indexOf('label-road-major');
    const indexesOf = (start: string) => ids.flatMap((id, i) => (id.startsWith(start) ? [i] : []));
    const important = [...indexesOf('label-water-large'), ...indexesOf('label-waterway-river')];
    expect(important.length).toBeGreaterThan(1);
    expect(important.every((i) => i > road)).toBe(true);
    expect([...indexesOf('label-water-small'), ...indexesOf('label-waterway-stream')].every((i) => i < road)).toBe(
      true,
    );
  }
});

test.each(schemas)('%s: a point of interest has its icon and its name, or neither', (schema) => {
  const { layers } = compiledStyle('svc-default-v1', schema);
  const points = layers.filter(({ id }) => id.startsWith('label-poi'));
  expect(points.length > 0).toBe(schema !== 'fenceline');
  for (const layer of points) {
    const isOptional = ['text-optional', 'icon-optional'].map((name) => layer.property<boolean>(name).at(15));
    expect([layer.id, ...isOptional]).toEqual([layer.id, false, false]);
  }
});

test('stations are named before streets, and other points after them', () => {
  for (const schema of schemas.filter((each) => each !== 'fenceline')) {
    const ids = builtInStyle('svc-default-v1', schema).layers.map(({ id }) => id);
    const indexOf = (start: string) => ids.findIndex((id) => id.startsWith(start));
    expect(indexOf('label-poi-13')).toBeGreaterThan(indexOf('label-road-major'));
    expect(indexOf('label-poi-14-moving')).toBeLessThan(indexOf('label-road-path'));
  }
});

test('only streets, and sights that start at zoom 14, move names of streets', () => {
  const moving = compiledStyle('svc-default-v1', 'protomaps-v3').layers.filter(
    ({ id, movesOthers }) => movesOthers && /^label-(poi|road)/.test(id),
  );
  expect(moving.map(({ id, sourceLayer }) => [id, sourceLayer])).toEqual([
    ['label-poi-14-moving-0', 'pois'],
    ['label-poi-famous-0', 'pois'],
    ['label-poi-famous-1', 'buildings'],
    ['label-poi-famous-2', 'landuse'],
    ...['path', 'minor', 'medium', 'major'].map((tier) => [`label-road-${tier}`, 'roads']),
  ]);
});

test('rivers of the basemap end where they are too coarse, and those of streets do not', () => {
  const isShown = (schema: TileSchema, zoom: number) =>
    compiledStyle('svc-default-v1', schema).layers.some(({ id, isVisible }) => id === 'waterways' && isVisible(zoom));
  expect([8.9, 9].map((zoom) => isShown('fenceline', zoom))).toEqual([true, false]);
  expect(isShown('openmaptiles', 16)).toBe(true);
});

test('other names are not built in', () => {
  expect(builtInStyles).toEqual(['svc-default-v1', 'svc-light-v1', 'svc-dark-v1']);
  expect(['svc-dark-v1', 'svc-dark-v2', 'toString', ''].map(isBuiltInStyle)).toEqual([true, false, false, false]);
});

/** The middle of a tile at zoom 14, twice as large. */
const view: Viewport = {
  center: worldPosition([2 ** 15 * 512 + 512, 2 ** 15 * 512 + 512], 16),
  zoom: 16,
  width: 40,
  height: 40,
  scale: 1,
};

async function drawn(
  name: BuiltInStyle,
  schema: TileSchema,
  layers: Readonly<Record<string, readonly DrawnFeature[]>>,
): Promise<Picture> {
  const source = sourceOf(async () => tileBytes(layers));
  const style = compiledStyle(name, schema);
  const scene = {
    view,
    style,
    sources: new Map([['map', source]]),
    labels: null,
    overlays: null,
    format: 'png' as const,
  };
  return pictureOf((await createRenderer().render(scene)).bytes);
}

const everywhere = [rectangle(-64, -64, 4160, 4160)];
const middle = 1024;
const area = (tags: Tags): DrawnFeature => ({ type: 'polygon', parts: everywhere, tags });
const line = (tags: Tags): DrawnFeature => ({
  type: 'line',
  parts: [
    [
      [-64, middle],
      [4160, middle],
    ],
  ],
  tags,
});

/** What documented tags of each schema look like, by the palette. */
const looks: readonly (readonly [
  TileSchema,
  string,
  (tags: Tags) => DrawnFeature,
  Tags,
  (palette: Palette) => string,
])[] = [
  ['fenceline', 'land', area, {}, (p) => p.land],
  ['fenceline', 'land', area, { kind: 'ice' }, (p) => p.areas.ice],
  ['fenceline', 'lakes', area, {}, (p) => p.water],
  ['fenceline', 'borders', line, {}, (p) => p.border],

  ['openmaptiles', 'landcover', area, { class: 'wood', subclass: 'forest' }, (p) => p.areas.wood],
  ['openmaptiles', 'landcover', area, { class: 'grass', subclass: 'park' }, (p) => p.areas.park],
  ['openmaptiles', 'landcover', area, { class: 'grass', subclass: 'meadow' }, (p) => p.areas.grass],
  ['openmaptiles', 'landuse', area, { class: 'residential' }, (p) => p.areas.residential],
  ['openmaptiles', 'landuse', area, { class: 'hospital' }, (p) => p.areas.hospital],
  ['openmaptiles', 'water', area, { class: 'ocean' }, (p) => p.water],
  ['openmaptiles', 'waterway', line, { class: 'river' }, (p) => p.water],
  ['openmaptiles', 'building', area, { render_height: 9 }, (p) => p.building],
  ['openmaptiles', 'aeroway', line, { class: 'runway' }, (p) => p.runway],
  ['openmaptiles', 'transportation', line, { class: 'motorway' }, (p) => p.roads.motorway.fill],
  [
    'openmaptiles',
    'transportation',
    line,
    { class: 'motorway', ramp: 1, brunnel: 'bridge' },
    (p) => p.roads.motorway_link.fill,
  ],
  ['openmaptiles', 'transportation', line, { class: 'primary', brunnel: 'bridge' }, (p) => p.roads.primary.fill],
  ['openmaptiles', 'transportation', line, { class: 'minor' }, (p) => p.roads.minor.fill],
  ['openmaptiles', 'transportation', line, { class: 'pier' }, (p) => p.pier],
  ['openmaptiles', 'boundary', line, { admin_level: 2, maritime: 0 }, (p) => p.border],
  ['openmaptiles', 'boundary', line, { admin_level: 2, maritime: 1 }, (p) => p.land],

  ['protomaps', 'earth', area, { kind: 'earth' }, (p) => p.land],
  ['protomaps', 'landcover', area, { kind: 'glacier' }, (p) => p.areas.ice],
  ['protomaps', 'landuse', area, { kind: 'park' }, (p) => p.areas.park],
  ['protomaps', 'landuse', area, { kind: 'wood' }, (p) => p.areas.wood],
  ['protomaps', 'water', area, { kind: 'ocean' }, (p) => p.water],
  ['protomaps', 'water', line, { kind: 'river' }, (p) => p.water],
  ['protomaps', 'buildings', area, { kind: 'building' }, (p) => p.building],
  ['protomaps', 'roads', line, { kind: 'aeroway', kind_detail: 'runway' }, (p) => p.runway],
  ['protomaps', 'roads', line, { kind: 'highway', kind_detail: 'motorway' }, (p) => p.roads.motorway.fill],
  ['protomaps', 'roads', line, { kind: 'highway' }, (p) => p.roads.motorway.fill],
  [
    'protomaps',
    'roads',
    line,
    { kind: 'major_road', kind_detail: 'trunk', is_bridge: true },
    (p) => p.roads.trunk.fill,
  ],
  ['protomaps', 'roads', line, { kind: 'minor_road', kind_detail: 'residential' }, (p) => p.roads.minor.fill],
  ['protomaps', 'boundaries', line, { kind: 'country', kind_detail: 2 }, (p) => p.border],

  ['protomaps-v3', 'earth', area, {}, (p) => p.land],
  ['protomaps-v3', 'natural', area, { natural: 'wood' }, (p) => p.areas.wood],
  ['protomaps-v3', 'landuse', area, { 'pmap:kind': 'park', leisure: 'garden' }, (p) => p.areas.park],
  ['protomaps-v3', 'landuse', area, { 'pmap:kind': 'other', landuse: 'residential' }, (p) => p.areas.residential],
  ['protomaps-v3', 'water', area, { natural: 'water' }, (p) => p.water],
  ['protomaps-v3', 'physical_line', line, { 'pmap:kind': 'waterway', waterway: 'river' }, (p) => p.water],
  ['protomaps-v3', 'buildings', area, {}, (p) => p.building],
  [
    'protomaps-v3',
    'roads',
    line,
    { 'pmap:kind': 'highway', 'pmap:level': 0, highway: 'motorway' },
    (p) => p.roads.motorway.fill,
  ],
  [
    'protomaps-v3',
    'roads',
    line,
    { 'pmap:kind': 'major_road', 'pmap:level': 1, highway: 'primary' },
    (p) => p.roads.primary.fill,
  ],
  ['protomaps-v3', 'roads', line, { 'pmap:kind': 'minor_road', 'pmap:level': 0 }, (p) => p.roads.minor.fill],
  ['protomaps-v3', 'boundaries', line, { 'pmap:min_admin_level': 2 }, (p) => p.border],

  ['shortbread', 'ocean', area, {}, (p) => p.water],
  ['shortbread', 'water_polygons', area, { kind: 'river' }, (p) => p.water],
  ['shortbread', 'water_polygons', area, { kind: 'glacier' }, (p) => p.areas.ice],
  ['shortbread', 'water_lines', line, { kind: 'canal', tunnel: false }, (p) => p.water],
  ['shortbread', 'water_lines', line, { kind: 'canal', tunnel: true }, (p) => p.land],
  ['shortbread', 'land', area, { kind: 'forest' }, (p) => p.areas.wood],
  ['shortbread', 'land', area, { kind: 'park' }, (p) => p.areas.park],
  ['shortbread', 'sites', area, { kind: 'hospital' }, (p) => p.areas.hospital],
  ['shortbread', 'buildings', area, { dummy: 1 }, (p) => p.building],
  ['shortbread', 'streets', line, { kind: 'motorway', rail: false }, (p) => p.roads.motorway.fill],
  ['shortbread', 'streets', line, { kind: 'motorway', link: true, bridge: true }, (p) => p.roads.motorway_link.fill],
  ['shortbread', 'streets', line, { kind: 'residential' }, (p) => p.roads.minor.fill],
  ['shortbread', 'streets', line, { kind: 'runway' }, (p) => p.runway],
  ['shortbread', 'boundaries', line, { admin_level: 2, maritime: false }, (p) => p.border],
];

test.each(looks)('%s: %s %o %j has its colour in every style', async (schema, layer, shape, tags, color) => {
  for (const name of builtInStyles) {
    // Under it, land where the background is water: rivers and lakes would not be told from that.
    const land = schema === 'fenceline' ? { land: [area({})] } : { earth: [area({ kind: 'earth' })] };
    const layers = layer in land ? {} : land;
    const picture = await drawn(name, schema, { ...layers, [layer]: [shape(tags)] });
    expect(picture.at(20, 20)).toBe(color(palettes[name]));
  }
});

test.each(['openmaptiles', 'protomaps', 'protomaps-v3', 'shortbread'] as const)(
  '%s: motorways in views of countries are thin lines without casings, and wider at each zoom',
  (schema) => {
    const { layers } = compiledStyle('svc-default-v1', schema);
    const shown = (zoom: number) => layers.filter(({ id, isVisible }) => /^road-/.test(id) && isVisible(zoom));
    expect(shown(5).map(({ id }) => id)).toEqual(['road-tunnel', 'road-ground', 'road-bridge']);
    const tags = { class: 'motorway', kind: schema === 'shortbread' ? 'motorway' : 'highway', highway: 'motorway' };
    const { sourceLayer } = shown(5)[0]!;
    const tile = decodeVectorTile(tileBytes({ [sourceLayer!]: [line({ ...tags, 'pmap:kind': 'highway' })] }));
    const [motorway] = tile.layers.get(sourceLayer!)!.features;
    const ground = shown(5).find(({ id }) => id === 'road-ground')!;
    const widths = [5, 6, 7, 8, 10, 12, 14, 16].map((zoom) => ground.property<number>('line-width').at(zoom, motorway));
    expect(widths[0]).toBeGreaterThan(0);
    expect(widths[2]).toBeLessThanOrEqual(1);
    expect(widths).toEqual(widths.toSorted((a, b) => a - b));
  },
);

/** Names in this many languages. */
const namesIn = (count: number): Tags =>
  Object.fromEntries(['en', 'de', 'ja', 'ru'].slice(0, count).map((code) => [`name:${code}`, 'b']));

test.each([
  [{ leisure: 'park', 'pmap:area': 20_000 }, 14, []],
  [{ leisure: 'park', 'pmap:area': 20_000 }, 15, ['label-poi-15']],
  [{ leisure: 'park', 'pmap:area': 10_000 }, 15, []],
  [{ leisure: 'park', 'pmap:area': 10_000 }, 16, ['label-poi-15']],
  [{ leisure: 'park', 'pmap:area': 600_000 }, 14, ['label-poi-famous']],
  [{ aeroway: 'aerodrome', 'pmap:area': 600_000 }, 11, ['label-poi-10']],
])('the area %j of Protomaps 3 is named at zoom %i by %j', (tags, zoom, ids) => {
  const all = { name: 'a', 'pmap:kind': Object.values(tags)[0]!, ...tags };
  expect(labelLayers('protomaps-v3', 'landuse', all, zoom, 'polygon')).toEqual(ids);
});

/** Which label layers show a feature with these tags at a zoom. */
function labelLayers(schema: TileSchema, layer: string, tags: Tags, zoom: number, type: 'point' | 'polygon' = 'point') {
  const parts: Vertex[][] = [
    [
      [1, 1],
      [9, 1],
      [9, 9],
    ],
  ];
  const bytes = tileBytes({ [layer]: [{ type, parts: type === 'point' ? [[[1, 1]]] : parts, tags }] });
  const feature = decodeVectorTile(bytes).layers.get(layer)!.features[0]!;
  return compiledStyle('svc-default-v1', schema)
    .layers.filter(({ type, sourceLayer }) => type === 'symbol' && sourceLayer === layer)
    .filter(({ areaAround }) => !areaAround)
    .filter((each) => each.isVisible(zoom) && each.filter(Math.floor(zoom))(feature))
    .map(({ id }) => id.replace(/-\d+$/, ''));
}

test.each([
  ['fenceline', 'country_labels', { class: 'country', min_zoom: 2, rank: 3 }, 3, ['label-country']],
  ['fenceline', 'country_labels', { class: 'country', min_zoom: 4, rank: 5 }, 3, []],
  ['fenceline', 'places', { min_zoom: 6, rank: 6, class: 'town' }, 16, ['label-town']],
  // Larger than the view; the city of the same name is shown.
  ['fenceline', 'country_labels', { class: 'microstate', min_zoom: 5, rank: 6 }, 8.9, ['label-microstate']],
  ['fenceline', 'country_labels', { class: 'microstate', min_zoom: 5, rank: 6 }, 9, []],
  ['openmaptiles', 'place', { class: 'country', iso_a2: 'CH', rank: 2 }, 3, ['label-country']],
  ['openmaptiles', 'place', { class: 'country', iso_a2: 'CH', rank: 2 }, 2, []],
  ['openmaptiles', 'place', { class: 'country', iso_a2: 'MC', rank: 1 }, 4, []],
  ['openmaptiles', 'place', { class: 'country', iso_a2: 'MC', rank: 1 }, 5, ['label-microstate']],
  ['fenceline', 'sea_labels', { name: 'a', min_zoom: 3 }, 2.9, []],
  ['fenceline', 'sea_labels', { name: 'a', min_zoom: 3 }, 3, ['label-water-large']],
  ['fenceline', 'state_labels', { name: 'a' }, 4, ['label-state']],
  ['openmaptiles', 'place', { class: 'city', rank: 2 }, 4, ['label-early-city']],
  ['openmaptiles', 'place', { class: 'city', rank: 2 }, 8, ['label-city']],
  ['openmaptiles', 'place', { class: 'suburb' }, 12, ['label-suburb']],
  [
    'openmaptiles',
    'transportation_name',
    { class: 'motorway', ref: 'A 1' },
    12,
    ['label-road-major', 'label-road-shield'],
  ],
  ['openmaptiles', 'transportation_name', { class: 'minor' }, 12, []],
  ['openmaptiles', 'transportation_name', { class: 'minor' }, 13, ['label-road-minor']],
  ['openmaptiles', 'poi', { name: 'a', class: 'railway', subclass: 'station' }, 13, ['label-poi-13']],
  ['openmaptiles', 'poi', { name: 'a', class: 'railway', subclass: 'subway' }, 15, ['label-poi-15']],
  ['openmaptiles', 'poi', { name: 'a', class: 'attraction', subclass: 'attraction' }, 14, []],
  ['openmaptiles', 'poi', { name: 'a', class: 'attraction', subclass: 'attraction' }, 15, ['label-poi-15']],
  // Tiles with names of languages tell what visitors know.
  ['openmaptiles', 'poi', { name: 'a', name_int: 'a', class: 'attraction', subclass: 'attraction' }, 14, []],
  [
    'openmaptiles',
    'poi',
    { name: 'a', name_int: 'a', ...namesIn(2), class: 'attraction', subclass: 'attraction' },
    14,
    ['label-poi-14-moving'],
  ],
  // Some producers have no `name`.
  ['openmaptiles', 'poi', { 'name:latin': 'a', class: 'attraction' }, 14, []],
  ['openmaptiles', 'water_name', { name: 'a', class: 'lake' }, 13, ['label-water-large']],
  ['openmaptiles', 'water_name', { name: 'a', class: 'lake' }, 15, ['label-water-small']],
  ['openmaptiles', 'water_name', { name: 'a', class: 'bay' }, 15, ['label-water-large']],
  ['openmaptiles', 'poi', { name: 'a', class: 'place_of_worship', subclass: 'christian' }, 15, ['label-poi-15']],
  ['openmaptiles', 'poi', { name: 'a', class: 'hospital', subclass: 'clinic' }, 17, []],
  ['openmaptiles', 'poi', { name: 'a', class: 'library', subclass: 'books' }, 17, []],
  ['openmaptiles', 'poi', { name: 'a', class: 'entrance', subclass: 'subway_entrance' }, 17, []],
  ['openmaptiles', 'poi', { class: 'railway', subclass: 'station' }, 15, []],
  ['openmaptiles', 'housenumber', { housenumber: '17' }, 18, ['label-house-number']],
  ['openmaptiles', 'housenumber', { housenumber: '218;222;226' }, 18, ['label-house-number']],
  ['openmaptiles', 'housenumber', { housenumber: 'Maiden Lane' }, 18, []],
  ['openmaptiles', 'poi', { name: 'a', ...namesIn(3), class: 'park' }, 14, ['label-poi-famous']],
  ['openmaptiles', 'poi', { name: 'a', ...namesIn(2), class: 'park' }, 14, []],
  ['openmaptiles', 'poi', { name: 'a', ...namesIn(3), class: 'park' }, 17, ['label-poi-famous']],
  ['openmaptiles', 'poi', { name: 'a', ...namesIn(3), class: 'shop', subclass: 'supermarket' }, 15, []],
  ['openmaptiles', 'poi', { name: 'a', class: 'bank', subclass: 'bank' }, 18, ['label-poi-18']],
  ['protomaps', 'places', { kind: 'locality', kind_detail: 'town' }, 10, ['label-town']],
  ['protomaps', 'places', { kind: 'country' }, 4, ['label-country']],
  ['protomaps', 'places', { kind: 'neighbourhood', kind_detail: 'suburb' }, 14, ['label-neighbourhood']],
  ['protomaps', 'pois', { name: 'a', kind: 'station' }, 13, ['label-poi-13']],
  ['protomaps', 'pois', { name: 'a', kind: 'station', kind_detail: 'subway' }, 15, ['label-poi-15']],
  ['protomaps', 'pois', { name: 'a', kind: 'monument' }, 15, ['label-poi-15']],
  ['protomaps', 'pois', { name: 'a', kind: 'attraction' }, 14, []],
  ['protomaps', 'pois', { name: 'a', ...namesIn(2), kind: 'attraction' }, 14, ['label-poi-14-moving']],
  ['protomaps', 'pois', { name: 'a', ...namesIn(3), kind: 'museum' }, 14, ['label-poi-famous']],
  ['protomaps-v3', 'places', { 'pmap:kind': 'city', place: 'city' }, 8, ['label-city']],
  ['protomaps-v3', 'places', { 'pmap:kind': 'neighbourhood', place: 'village' }, 12, ['label-village']],
  ['protomaps-v3', 'pois', { name: 'a', amenity: 'hospital' }, 14, ['label-poi-14-early']],
  // Mappers tag entrances and courtyards as attractions. Names in other languages tell what visitors come for.
  ['protomaps-v3', 'pois', { name: 'a', tourism: 'attraction' }, 14, []],
  ['protomaps-v3', 'pois', { name: 'a', tourism: 'attraction' }, 15, ['label-poi-15']],
  [
    'protomaps-v3',
    'pois',
    { name: 'a', ...namesIn(2), tourism: 'attraction', amenity: 'x' },
    14,
    ['label-poi-14-moving'],
  ],
  ['protomaps-v3', 'buildings', { name: 'a', ...namesIn(3) }, 14, ['label-poi-famous']],
  ['protomaps-v3', 'buildings', { name: 'a', ...namesIn(2) }, 14, []],
  ['protomaps-v3', 'buildings', { name: 'a', ...namesIn(2) }, 15, ['label-poi-15']],
  ['protomaps-v3', 'buildings', { name: 'a', ...namesIn(1) }, 20, []],
  ['protomaps-v3', 'pois', { name: 'a', shop: 'mall' }, 16, ['label-poi-16']],
  ['protomaps-v3', 'pois', { name: 'a', amenity: 'restaurant' }, 16, ['label-poi-16']],
  ['protomaps-v3', 'pois', { name: 'a', amenity: 'fast_food' }, 16, []],
  ['protomaps-v3', 'pois', { name: 'a', amenity: 'fast_food' }, 17, ['label-poi-17']],
  ['protomaps-v3', 'pois', { name: 'a', railway: 'station', station: 'subway' }, 15, ['label-poi-15']],
  ['shortbread', 'place_labels', { kind: 'capital' }, 6, ['label-city', 'label-capital']],
  ['shortbread', 'boundary_labels', { admin_level: 2 }, 4, ['label-country']],
  ['shortbread', 'street_labels', { kind: 'primary' }, 13, ['label-road-major']],
  ['shortbread', 'pois', { name: 'a', tourism: 'museum' }, 14, ['label-poi-14-early']],
  ['shortbread', 'pois', { name: 'a', tourism: 'attraction' }, 14, []],
  ['shortbread', 'pois', { name: 'a', tourism: 'attraction' }, 15, ['label-poi-15']],
  ['shortbread', 'pois', { name: 'a', tourism: 'museum' }, 16, ['label-poi-15']],
  ['shortbread', 'pois', { name: 'a', historic: 'monument', amenity: 'cafe' }, 15, ['label-poi-15']],
  ['shortbread', 'pois', { name: 'a', tourism: 'attraction', amenity: 'cafe' }, 17, ['label-poi-16']],
  ['shortbread', 'pois', { name: 'a', tourism: 'attraction', shop: 'tea' }, 17, []],
  ['shortbread', 'public_transport', { name: 'a', kind: 'station' }, 13, ['label-poi-13']],
  ['shortbread', 'public_transport', { name: 'a', kind: 'station', station: 'subway' }, 15, ['label-poi-15']],
] as const)('%s: %s %j at zoom %i is shown by %j', (schema, layer, tags, zoom, ids) => {
  expect(labelLayers(schema, layer, tags, zoom)).toEqual(ids);
});

test.each([
  ['openmaptiles', 'transportation_name', { class: 'minor' }, 'label-road-minor'],
  ['openmaptiles', 'poi', { class: 'museum', subclass: 'museum' }, 'label-poi-14-early-1'],
  ['shortbread', 'street_labels', { kind: 'residential' }, 'label-road-minor'],
] as const)('%s: of several names in %s, the first is shown', (schema, layer, tags, id) => {
  const textOf = (name: string) => {
    const bytes = tileBytes({ [layer]: [{ type: 'point', parts: [[[1, 1]]], tags: { ...tags, name } }] });
    const feature = decodeVectorTile(bytes).layers.get(layer)!.features[0]!;
    const { layers } = compileStyle(localizeStyle(builtInStyle('svc-default-v1', schema), 'en'));
    return String(
      layers
        .find((each) => each.id === id)!
        .property('text-field')
        .at(16, feature),
    );
  };
  expect(textOf('Hang Ah Alley;Pagoda Alley')).toBe('Hang Ah Alley');
  expect(textOf('Hang Ah Alley')).toBe('Hang Ah Alley');
});

import { type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec';
import { expect, test } from 'vitest';
import { basemapDescription } from '../basemap/bake.js';
import { builtInStyle } from '../styles/built-in.js';
import { onArchiveOfWeb } from '../styles/custom.js';
import { localizeStyle } from '../styles/language.js';
import { builtInStyles } from '../styles/names.js';
import type { TileSchema } from '../types.js';
import { worldPixel } from '../view/projection.js';
import { besideArchive } from './beside.js';
import { completeStyle, sourceOf, spritePath, withAddresses } from './style.js';

const source = {
  kind: 'vector',
  minZoom: 0,
  maxZoom: 14,
  tileSizePx: 512,
  bounds: [11, 43, 12, 44],
  attribution: '© <Us> & "them"',
} as const;

const addressOf = (path: string) => `https://maps.example${path}?publishableKey=k`;

const schemas: readonly TileSchema[] = ['fenceline', 'openmaptiles', 'protomaps', 'protomaps-v3', 'shortbread'];

test.each(schemas)('the built-in styles are valid for browsers with tiles of %s', (schema) => {
  for (const name of builtInStyles) {
    for (const language of ['en', 'ja', 'native']) {
      const style = { ...localizeStyle(builtInStyle(name, schema), language), sprite: spritePath(name) };
      expect(validateStyleMin(withAddresses(completeStyle(style, 'archive', source), addressOf))).toEqual([]);
    }
  }
});

test.each(schemas.filter((schema) => schema !== 'fenceline'))(
  'beside an archive of %s, the basemap lies below the archive and names what is beyond it',
  (schema) => {
    const below = builtInStyle('svc-dark-v1', 'fenceline');
    const above = completeStyle(builtInStyle('svc-dark-v1', schema), 'archive', source);
    const style = besideArchive(above, below, 'vector', {
      basemap: sourceOf('basemap', basemapDescription),
      names: sourceOf('beyond', basemapDescription),
    });
    expect(validateStyleMin(withAddresses(style, addressOf))).toEqual([]);
    expect(style.layers.filter(({ type }) => type === 'background')).toHaveLength(1);
    const sources = style.layers.map((layer) => ('source' in layer ? layer.source : null));
    const firstSymbol = style.layers.findIndex(({ type }) => type === 'symbol');
    expect(sources.lastIndexOf('basemap')).toBeLessThan(sources.indexOf('map'));
    expect(sources.indexOf('basemap-names')).toBe(firstSymbol);
    expect(style.layers[sources.indexOf('map')]?.id).toBe('covered');
  },
);

// The centre was halfway between the latitudes, so the north of a tall archive lay above the first view.
test.each([
  ['Norway', [4, 57, 32, 81]],
  ['the south', [-20, -90, 20, -30]],
  ['a wide archive', [-80, 40, 60, 50]],
] as const)('the first view shows all tiles of %s', (_name, bounds) => {
  const { center, zoom } = completeStyle(builtInStyle('svc-dark-v1', 'protomaps'), 'archive', { ...source, bounds });
  const [x, y] = worldPixel(center as [number, number], zoom!);
  const [left, top] = worldPixel([bounds[0], bounds[3]], zoom!);
  const [right, bottom] = worldPixel([bounds[2], bounds[1]], zoom!);
  expect(Math.max(x - left, right - x, y - top, bottom - y)).toBeCloseTo(256, 6);
});

test('a style has the addresses of everything, and text of the attribution as text', () => {
  const style = { ...builtInStyle('svc-dark-v1', 'protomaps'), sprite: spritePath('svc-dark-v1') };
  expect(withAddresses(completeStyle(style, 'basemap', source), addressOf)).toMatchObject({
    sprite: 'https://maps.example/maps/sprites/svc-dark-v1?publishableKey=k',
    glyphs: 'https://maps.example/maps/glyphs/{fontstack}/{range}.pbf?publishableKey=k',
    sources: {
      map: {
        type: 'vector',
        tiles: ['https://maps.example/maps/tiles/basemap/{z}/{x}/{y}?publishableKey=k'],
        minzoom: 0,
        maxzoom: 14,
        bounds: [11, 43, 12, 44],
        attribution: '© &#60;Us&#62; &#38; &#34;them&#34;',
      },
    },
    center: [11.5, expect.closeTo(43.5022, 3)],
  });
});

test('a map of the world has no first view, and a style keeps its own', () => {
  const style = builtInStyle('svc-light-v1', 'openmaptiles');
  for (const bounds of [null, [-180, -85, 180, 85]] as const)
    expect(completeStyle(style, 'archive', { ...source, bounds })).not.toHaveProperty('center');
  expect(completeStyle({ ...style, center: [1, 2] }, 'archive', source).center).toEqual([1, 2]);
});

test('raster tiles keep their size', () => {
  const style: StyleSpecification = { version: 8, sources: {}, layers: [] };
  const raster = { ...source, kind: 'raster', tileSizePx: 256, bounds: null } as const;
  expect(completeStyle(style, 'archive', raster).sources.map).toMatchObject({ type: 'raster', tileSize: 256 });
});

test('an uploaded style keeps the sources that browsers can load, and loses the others with their layers', () => {
  const uploaded: StyleSpecification = {
    version: 8,
    sprite: 'https://elsewhere.example/sprite',
    glyphs: 'https://elsewhere.example/{fontstack}/{range}.pbf',
    sources: {
      streets: { type: 'vector', url: 'mapbox://streets' },
      map: { type: 'geojson', data: { type: 'FeatureCollection', features: [] } },
      other: { type: 'vector', url: 'mapbox://other' },
    },
    layers: [
      { id: 'ground', type: 'background' },
      { id: 'water', type: 'fill', source: 'streets', 'source-layer': 'water' },
      { id: 'roads', type: 'line', source: 'streets', 'source-layer': 'roads' },
      { id: 'own', type: 'circle', source: 'map' },
      { id: 'lost', type: 'line', source: 'other', 'source-layer': 'x' },
    ],
  };
  const style = withAddresses(completeStyle(onArchiveOfWeb(uploaded), 'archive', source), addressOf);
  expect(validateStyleMin(style)).toEqual([]);
  expect(style.layers.map((layer) => [layer.id, 'source' in layer ? layer.source : null])).toEqual([
    ['ground', null],
    ['water', 'map'],
    ['roads', 'map'],
    ['own', 'map-of-style'],
  ]);
  expect(style.sprite).toBe(uploaded.sprite);
  expect(style.glyphs).toBe(addressOf('/maps/glyphs/{fontstack}/{range}.pbf'));
  expect(Object.keys(style.sources)).toEqual(['map-of-style', 'map']);
});

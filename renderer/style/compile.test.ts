import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expect, test } from 'vitest';
import { styleOf } from '../testing/pictures.js';
import { rectangle, tileBytes } from '../testing/tiles.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import { compileStyle, validateStyle } from './compile.js';

function featureWith(tags: Record<string, string | number>) {
  const bytes = tileBytes({ a: [{ type: 'polygon', parts: [rectangle(0, 0, 9, 9)], tags, id: 7 }] });
  return decodeVectorTile(bytes).layers.get('a')!.features[0]!;
}

function compileOne(layer: object, state?: StyleSpecification['state']) {
  const style = styleOf([{ source: 'tiles', 'source-layer': 'a', ...layer }]);
  return compileStyle({ ...style, ...(state && { state }) }).layers[0]!;
}

test.each([
  ['an expression', ['==', ['get', 'kind'], 'park']],
  ['the older form', ['==', 'kind', 'park']],
  ['an expression of type and id', ['all', ['==', ['geometry-type'], 'Polygon'], ['==', ['id'], 7], ['has', 'kind']]],
])('filters in %s', (_name, filter) => {
  const layer = compileOne({ type: 'fill', filter });
  expect(layer.filter(10)(featureWith({ kind: 'park' }))).toBe(true);
  expect(layer.filter(10)(featureWith({ name: 'park' }))).toBe(false);
});

test('a filter may depend on the zoom', () => {
  const layer = compileOne({ type: 'fill', filter: ['>=', ['zoom'], ['get', 'from']] });
  const feature = featureWith({ from: 12 });
  expect([11, 12].map((zoom) => layer.filter(zoom)(feature))).toEqual([false, true]);
  expect(layer.filterDependsOnZoom).toBe(true);
  expect(compileOne({ type: 'fill', filter: ['has', 'zoom'] }).filterDependsOnZoom).toBe(false);
});

/** The western half of the world. */
const west = { type: 'Polygon', coordinates: [[...rectangle(-180, -80, 0, 80), [-180, -80]]] };

/** Both operators failed for every feature: they had neither its geometry nor the place of its tile. */
test.each([512, 4096, 8192])('filters and properties know where features are, of extent %i', (extent) => {
  const half = extent / 2;
  const middle = [half, half] as const;
  const shapes = [
    { type: 'point', parts: [[middle]] },
    { type: 'line', parts: [[middle, [half + 9, half]]] },
    { type: 'line', parts: [[middle, [2 * extent + 9, half]]] },
    { type: 'polygon', parts: [rectangle(half, half, half + 9, half + 9)] },
  ] as const;
  const bytes = tileBytes({ a: shapes }, extent);
  const layer = compileOne({
    type: 'circle',
    filter: ['within', west],
    paint: { 'circle-radius': ['distance', { type: 'Point', coordinates: [-90, 0] }] },
  });
  const drawn = (x: number) =>
    decodeVectorTile(bytes, { z: 1, x, y: 0 })
      .layers.get('a')!
      .features.map((feature) => [layer.filter(1)(feature), layer.property<number>('circle-radius').at(1, feature)]);
  const distancesM = (x: number) => drawn(x).map(([, distanceM]) => Number(distanceM));
  expect(drawn(0).map(([isWithin]) => isWithin)).toEqual([true, true, false, false]);
  expect(drawn(1).map(([isWithin]) => isWithin)).toEqual([false, false, false, false]);
  // From the equator to 66.5 degrees north.
  for (const distanceM of distancesM(0)) expect(distanceM / 1e6).toBeCloseTo(7.4, 0);
  for (const distanceM of distancesM(1)) expect(distanceM / 1e6).toBeGreaterThan(8);
});

test('properties are constants, or depend on zoom, feature or both', () => {
  const layer = compileOne({
    type: 'line',
    paint: {
      'line-color': ['get', 'color'],
      'line-width': ['interpolate', ['linear'], ['zoom'], 10, 1, 12, 3],
      'line-opacity': ['interpolate', ['linear'], ['zoom'], 10, 0, 12, ['get', 'opacity']],
      'line-blur': {
        stops: [
          [10, 0],
          [12, 2],
        ],
      },
    },
  });
  const feature = featureWith({ color: '#ff0000', opacity: 0.5 });
  const kinds = ['line-color', 'line-width', 'line-opacity', 'line-blur', 'line-gap-width'].map(
    (name) => layer.property(name).kind,
  );
  expect(kinds).toEqual(['source', 'camera', 'composite', 'camera', 'constant']);
  expect(String(layer.property('line-color').at(11, feature))).toBe('rgba(255,0,0,1)');
  expect(layer.property('line-width').at(11)).toBe(2);
  expect(layer.property('line-opacity').at(11, feature)).toBe(0.25);
  expect(layer.property('line-blur').at(11)).toBe(1);
  expect(layer.property('line-gap-width').at(11)).toBe(0);
  expect(layer.property('line-cap').at(11)).toBe('butt');
  expect(() => layer.property('fill-color')).toThrow(RangeError);
});

test('layers are visible from minzoom to below maxzoom', () => {
  const layer = compileOne({ type: 'fill', minzoom: 5, maxzoom: 9.5 });
  expect([4.99, 5, 9.49, 9.5].map((zoom) => layer.isVisible(zoom))).toEqual([false, true, true, false]);
});

/** Such layers were hidden. MapLibre GL JS draws them at every zoom. */
test('a maxzoom of 0 is none', () => {
  const layer = compileOne({ type: 'fill', maxzoom: 0 });
  expect([-1, 0, 0.5, 9].map((zoom) => layer.isVisible(zoom))).toEqual([true, true, true, true]);
});

/** Maps of the whole world in a small image were blank, because views are fitted below zoom 0. */
test('layers that begin at zoom 0 are visible below it', () => {
  expect(compileOne({ type: 'fill' }).isVisible(-1)).toBe(true);
  expect(compileOne({ type: 'fill', minzoom: 0 }).isVisible(-1)).toBe(true);
  expect(compileOne({ type: 'fill', minzoom: 1 }).isVisible(-1)).toBe(false);
});

test('hidden layers are dropped, also by global state', () => {
  const hidden = { type: 'fill', layout: { visibility: 'none' } };
  expect(compileStyle(styleOf([{ ...hidden, source: 'tiles', 'source-layer': 'a' }])).layers).toEqual([]);
  const byState = { type: 'fill', layout: { visibility: ['global-state', 'shown'] } };
  expect(compileOne(byState, { shown: { default: 'none' } })).toBeUndefined();
  expect(compileOne(byState, { shown: { default: 'visible' } })).toBeDefined();
});

test('styles share equal layers, and layers share equal properties', () => {
  const roads = { type: 'line', paint: { 'line-width': ['get', 'lanes'] } };
  const areas = { type: 'fill', filter: ['==', ['get', 'kind'], 'park'] };
  expect(compileOne(roads)).toBe(compileOne(roads));
  const narrower = compileOne({ ...roads, maxzoom: 9 });
  expect(narrower).not.toBe(compileOne(roads));
  expect([9, 8].map((zoom) => narrower.isVisible(zoom))).toEqual([false, true]);
  expect(narrower.property('line-width')).toBe(compileOne(roads).property('line-width'));
  expect(compileOne(areas).filterText).not.toBe(compileOne({ ...areas, filter: ['has', 'kind'] }).filterText);
});

test('layers of styles with another state are not shared', () => {
  const layer = {
    type: 'fill',
    filter: ['==', ['get', 'kind'], ['global-state', 'kind']],
    paint: { 'fill-opacity': ['global-state', 'opacity'] },
  };
  const drawn = (kind: string, opacity: number) => {
    const { filter, property } = compileOne(layer, { kind: { default: kind }, opacity: { default: opacity } });
    return [filter(10)(featureWith({ kind: 'park' })), property('fill-opacity').at(10)];
  };
  expect(drawn('park', 0.5)).toEqual([true, 0.5]);
  expect(drawn('wood', 0.25)).toEqual([false, 0.25]);
  expect(drawn('park', 0.25)).toEqual([true, 0.25]);
});

test('style errors have their position', () => {
  const style = styleOf([
    { type: 'fill', source: 'tiles', 'source-layer': 'a', paint: { 'fill-color': 7 } },
    { type: 'line' },
  ]);
  expect(validateStyle(style)).toEqual([
    { field: 'layers[0].paint.fill-color', message: 'color expected, number found' },
    { field: 'layers[1]', message: 'missing required property "source"' },
  ]);
  expect(validateStyle(styleOf([]))).toEqual([]);
  expect(validateStyle('nothing')).not.toEqual([]);
});

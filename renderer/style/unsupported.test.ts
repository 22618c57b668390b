import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expect, test } from 'vitest';
import { shapes, styleOf } from '../testing/pictures.js';
import { unsupported } from './unsupported.js';

test('a supported style has no findings', () => {
  const style = styleOf([
    { type: 'background', paint: { 'background-color': 'red' } },
    shapes('fill', { 'fill-color': 'red', 'fill-antialias': true }),
    shapes(
      'line',
      { 'line-width': 2, 'line-blur': 0, 'line-dasharray': [1, 2] },
      { layout: { 'line-cap': 'round', visibility: 'visible' } },
    ),
    shapes(
      'circle',
      { 'circle-radius': ['distance', { type: 'Point', coordinates: [0, 0] }] },
      { filter: ['within', { type: 'Polygon', coordinates: [] }] },
    ),
    shapes('fill-extrusion', { 'fill-extrusion-color': 'red' }),
  ]);
  expect(unsupported({ ...style, projection: { type: 'mercator' } })).toEqual([]);
});

test('each unsupported feature is reported', () => {
  const style = styleOf([
    shapes('heatmap', {}),
    shapes('fill', { 'fill-antialias': false }),
    shapes('line', {
      'line-blur': ['get', 'blur'],
      'line-gradient': ['interpolate', ['linear'], ['line-progress'], 0, 'red', 1, 'blue'],
    }),
    shapes('fill-extrusion', { 'fill-extrusion-height': ['get', 'height'], 'fill-extrusion-base': 0 }),
  ]);
  const found = unsupported({ ...style, sky: {}, projection: { type: 'globe' } });
  expect(found.map(({ layer, property }) => `${layer} ${property}`)).toEqual([
    'null sky',
    'null projection',
    'layer-0 null',
    'layer-1 fill-antialias',
    'layer-2 line-blur',
    'layer-2 line-gradient',
    'layer-3 fill-extrusion-height',
  ]);
});

const shop = {
  type: 'symbol',
  source: 'tiles',
  'source-layer': 'shapes',
  layout: { 'icon-image': 'shop', 'icon-size': 2 },
};

test('icons and patterns need a sprite that is loaded', () => {
  const style = styleOf([shop, shapes('fill', { 'fill-pattern': 'dots' }), { type: 'background', paint: {} }]);
  const told = (sprite?: StyleSpecification['sprite']) =>
    unsupported({ ...style, ...(sprite !== undefined && { sprite }) }).map(
      ({ layer, property }) => `${layer} ${property}`,
    );
  expect(told('https://a.example/sprite')).toEqual([]);
  expect(told([{ id: 'a', url: 'https://a.example/sprite' }])).toEqual([]);
  expect(told()).toEqual(['layer-0 icon-image', 'layer-1 fill-pattern']);
  expect(told('mapbox://sprites/a')).toEqual(['null sprite', 'layer-0 icon-image', 'layer-1 fill-pattern']);
  const many = Array.from({ length: 9 }, (_, i) => ({ id: `${i}`, url: `https://a.example/${i}` }));
  expect(told(many)).toEqual(['null sprite']);
});

// Nothing told that these have no effect.
test('what has no effect along lines is reported', () => {
  const told = (layout: object) =>
    unsupported(styleOf([{ ...shop, layout: { 'text-field': 'a', ...layout } }])).map(({ property }) => property);
  const turned = { 'text-rotate': 30, 'text-anchor': 'top-left', 'text-offset': [1, 0] };
  const all = Object.keys(turned);
  expect(told({ ...turned, 'symbol-placement': 'line' })).toEqual(all);
  expect(told({ ...turned, 'symbol-placement': ['step', ['zoom'], 'point', 9, 'line'] })).toEqual(all);
  expect(told({ ...turned, 'symbol-placement': 'line', 'text-rotation-alignment': 'viewport' })).toEqual([]);
  expect(told(turned)).toEqual([]);
  const level = { 'text-rotate': 0, 'text-anchor': 'top', 'text-offset': [0, 1] };
  expect(told({ ...level, 'symbol-placement': 'line-center' })).toEqual([]);
});

test('sections that do not stand on the baseline, and fonts by address, are reported', () => {
  const field = ['format', 'a', {}, ['get', 'name'], { 'vertical-align': 'top' }];
  const style = styleOf([{ ...shop, layout: { 'text-field': field } }]);
  const found = unsupported({ ...style, 'font-faces': { Sans: 'https://a.example/sans.ttf' } });
  expect(found.map(({ property }) => property)).toEqual(['font-faces', 'text-field']);
});

test('images in texts and halo blur are reported', () => {
  const field = ['format', ['image', 'shop'], {}, ['get', 'name'], {}];
  const layout = { 'text-field': field, 'icon-text-fit': 'both', 'icon-text-fit-padding': [1, 2, 1, 2] };
  const found = unsupported({
    ...styleOf([{ ...shop, layout, paint: { 'icon-halo-blur': 1 } }]),
    sprite: 'https://a.example/s',
  });
  expect(found.map(({ property }) => property)).toEqual(['text-field', 'icon-halo-blur']);
});

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

test('images in texts and halo blur are reported', () => {
  const field = ['format', ['image', 'shop'], {}, ['get', 'name'], {}];
  const layout = { 'text-field': field, 'icon-text-fit': 'both', 'icon-text-fit-padding': [1, 2, 1, 2] };
  const found = unsupported({
    ...styleOf([{ ...shop, layout, paint: { 'icon-halo-blur': 1 } }]),
    sprite: 'https://a.example/s',
  });
  expect(found.map(({ property }) => property)).toEqual(['text-field', 'icon-halo-blur']);
});

import { expect, test } from 'vitest';
import { hasValidGeoJson } from './geojson-operands.js';

const point = { type: 'Point', coordinates: [1, 2] };
const polygon = { type: 'Polygon', coordinates: [[...'abcd'].map(() => [1, 2])] };

test.each([
  ['a geometry', ['distance', point], true],
  ['a feature in a condition', ['>', ['distance', { type: 'Feature', geometry: polygon }], 3], true],
  ['features', ['within', { type: 'FeatureCollection', features: [{ type: 'Feature', geometry: polygon }] }], true],
  ['no positions', ['within', { type: 'Polygon', coordinates: [] }], true],
  ['another operator', ['get', 'within'], true],
  ['a literal', ['in', ['get', 'x'], ['literal', ['within', 'beyond']]], true],
  ['no operand', ['within'], false],
  ['null', ['distance', null], false],
  ['text', ['distance', 'x'], false],
  ['an unknown type', ['within', { type: 'constructor', coordinates: [] }], false],
  ['a feature without a geometry', ['within', { type: 'Feature', geometry: null }], false],
  ['a list without features', ['within', { type: 'FeatureCollection' }], false],
  ['no coordinates', ['!', ['within', { type: 'Polygon' }]], false],
  ['coordinates of another type', ['within', { ...polygon, coordinates: [1, 2] }], false],
  ['a short position', ['distance', { ...point, coordinates: [1] }], false],
  ['text as coordinates', ['distance', { ...point, coordinates: ['1', '2'] }], false],
] as const)('%s', (_name, expression, isValid) => {
  expect(hasValidGeoJson(expression)).toBe(isValid);
});

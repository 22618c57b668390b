/** Points of a polygon that a person pastes as GeoJSON. */
import { expect, test } from 'vitest';
import { ringOf } from './geofence.js';

const outer = [
  [0, 0],
  [3, 0],
  [3, 3],
  [0, 0],
];
const hole = [
  [1, 0.5],
  [2, 0.5],
  [2, 1],
  [1, 0.5],
];
const feature = (coordinates: unknown, type = 'Polygon') => ({ type: 'Feature', geometry: { type, coordinates } });
const collection = (...features: object[]) => ({ type: 'FeatureCollection', features });

test.each([
  ['a ring', outer],
  ['coordinates', [outer]],
  ['a geometry', feature([outer]).geometry],
  ['a feature', feature([outer])],
  ['a collection of one feature', collection(feature([outer]))],
  ['a multipolygon of one polygon', feature([[outer]], 'MultiPolygon')],
])('the ring of %s', (_, value) => {
  expect(ringOf(JSON.stringify(value))).toEqual(outer);
});

// The page created a geofence from the outer ring of the first feature, and said nothing of the rest.
test.each([
  ['a hole', feature([outer, hole]), [outer, hole]],
  ['two features', collection(feature([outer]), feature([hole])), [outer, hole]],
  ['two polygons', feature([[outer], [hole]], 'MultiPolygon'), [[outer], [hole]]],
])('%s is kept, so that it is refused', (_, value, rings) => {
  expect(ringOf(JSON.stringify(value))).toEqual(rings);
});

test('text that is no ring is kept as it is', () => {
  for (const text of ['{"type":"Point"}', '[1', 'somewhere', '[]']) {
    const read = ringOf(text);
    expect(typeof read === 'string' ? read : JSON.stringify(read)).toBe(text);
  }
});

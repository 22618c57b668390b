/** Points of a polygon that a person pastes as GeoJSON. */
import { expect, test } from 'vitest';
import { patchOfGeofence, ringOf } from './geofence.js';

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

// A PATCH that names one of address and coordinates replaces both. A circle that was moved lost its address in silence.
test('a patch that moves a geofence keeps its address', () => {
  const before = { coordinates: [1, 2], address: 'Via Roma 1', radius: 100 };
  const patch = (change: object) => patchOfGeofence(before, { ...before, ...change });
  expect(patch({ coordinates: [1, 3] })).toEqual({ coordinates: [1, 3], address: 'Via Roma 1' });
  expect(patch({ coordinates: [1, 3], address: undefined })).toEqual({ coordinates: [1, 3], address: null });
  expect(patch({ coordinates: [1, 3], address: 'Via Roma 2' })).toEqual({
    coordinates: [1, 3],
    address: 'Via Roma 2',
  });
  expect(patch({ address: 'Via Roma 2' })).toEqual({ address: 'Via Roma 2' });
  expect(patch({ radius: 200 })).toEqual({ radius: 200 });
});

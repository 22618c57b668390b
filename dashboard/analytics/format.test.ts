import { expect, test } from 'vitest';
import { distinctNames, placeName } from './format';

test('a place has the name that people gave it, and the one of programs only once it is deleted', () => {
  const store = { geofence: 'a', externalId: 'store-1', description: 'Market hall' };
  expect(placeName(store)).toBe('Market hall');
  expect(placeName({ ...store, description: undefined })).toBe('store-1');
  expect(placeName({ beacon: 'b' })).toBe('b');
});

test('names of places with one description also have their external ids', () => {
  const shop = (id: string, description: string) => ({ geofence: id, externalId: `store-${id}`, description });
  const names = distinctNames([shop('1', 'Shop'), shop('2', 'Shop'), shop('1', 'Shop'), shop('3', 'Hall')]);
  expect([...names.values()]).toEqual(['Shop (store-1)', 'Shop (store-2)', 'Hall']);
});

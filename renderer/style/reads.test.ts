import { expect, test } from 'vitest';
import { readsOf } from './reads.js';

const names = (value: unknown): string[] | null => {
  const reads = readsOf(JSON.stringify(value));
  return reads && [...reads];
};

test.each([
  ['an expression', ['==', ['get', 'kind'], ['get', 'other']], ['kind', 'other']],
  ['whether there is a name', ['all', ['has', 'a'], ['!', ['has', 'b']]], ['a', 'b']],
  [
    'a filter as in old styles',
    ['all', ['==', '$type', 'Polygon'], ['in', 'kind', 'a', 'b'], ['!has', 'c']],
    ['kind', 'c'],
  ],
  ['a function as in old styles', { property: 'rank', stops: [[0, 'red']] }, ['rank']],
  [
    'a name within another expression',
    ['match', ['downcase', ['get', 'kind']], 'a', 'red', ['get', 'color']],
    ['kind', 'color'],
  ],
])('%s', (_, value, expected) => {
  expect(names(value)).toEqual(expect.arrayContaining(expected));
});

test('nothing', () => {
  expect(readsOf('')).toEqual(new Set());
  expect(readsOf('4', 'true')).toEqual(new Set());
});

test('several together', () => {
  expect(readsOf('["get","a"]', '["has","b"]')).toEqual(new Set(['get', 'a', 'has', 'b']));
});

test.each([
  ['a name that is worked out', ['get', ['concat', 'a', 'b']]],
  ['such a name deep inside', ['case', ['has', ['var', 'x']], 1, 2]],
  ['such a name in a function', { stops: [[0, ['get', ['var', 'x']]]] }],
  ['a number', ['==', ['id'], 3]],
  ['a number in an old filter', ['==', '$id', 3]],
  ['everything', ['has', 'a', ['properties']]],
  ['the place', ['within', { type: 'Polygon', coordinates: [] }]],
  ['the distance', ['<', ['distance', { type: 'Point', coordinates: [0, 0] }], 5]],
  ['a token', 'icon-{kind}'],
])('%s can be told of no feature by its properties', (_, value) => {
  expect(names(value)).toBeNull();
});

import { expect, test } from 'vitest';
import { dependenciesOf } from './property-dependencies.js';

const names = (value: unknown): string[] | null => {
  const dependencies = dependenciesOf(JSON.stringify(value));
  return dependencies && [...dependencies];
};

test.each([
  ['an expression', ['==', ['get', 'kind'], ['get', 'other']], ['kind', 'other']],
  ['the existence of a property', ['all', ['has', 'a'], ['!', ['has', 'b']]], ['a', 'b']],
  ['a legacy filter', ['all', ['==', '$type', 'Polygon'], ['in', 'kind', 'a', 'b'], ['!has', 'c']], ['kind', 'c']],
  ['a legacy function', { property: 'rank', stops: [[0, 'red']] }, ['rank']],
  ['a nested expression', ['match', ['downcase', ['get', 'kind']], 'a', 'red', ['get', 'color']], ['kind', 'color']],
])('%s', (_, value, expected) => {
  expect(names(value)).toEqual(expect.arrayContaining(expected));
});

test('a constant has no dependencies', () => {
  expect(dependenciesOf('')).toEqual(new Set());
  expect(dependenciesOf('4', 'true')).toEqual(new Set());
});

test('dependencies of several expressions are combined', () => {
  expect(dependenciesOf('["get","a"]', '["has","b"]')).toEqual(new Set(['get', 'a', 'has', 'b']));
});

test.each([
  ['a computed name', ['get', ['concat', 'a', 'b']]],
  ['a nested computed name', ['case', ['has', ['var', 'x']], 1, 2]],
  ['a computed name in a function', { stops: [[0, ['get', ['var', 'x']]]] }],
  ['the id', ['==', ['id'], 3]],
  ['the id in a legacy filter', ['==', '$id', 3]],
  ['all properties', ['has', 'a', ['properties']]],
  ['the geometry', ['within', { type: 'Polygon', coordinates: [] }]],
  ['the distance', ['<', ['distance', { type: 'Point', coordinates: [0, 0] }], 5]],
  ['a token', 'icon-{kind}'],
])('%s is not determined by named properties', (_, value) => {
  expect(names(value)).toBeNull();
});

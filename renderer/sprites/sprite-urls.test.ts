import { expect, test } from 'vitest';
import { maxSprites, spritePlaces, spriteProblems, spriteUrls } from './sprite-urls.js';

test('at a scale above 1 the double density is preferred, else the single', () => {
  const single = { index: 'https://a.example/s.json', image: 'https://a.example/s.png' };
  const double = { index: 'https://a.example/s@2x.json', image: 'https://a.example/s@2x.png' };
  expect(spriteUrls('https://a.example/s', 1)).toEqual([single, double]);
  expect(spriteUrls('https://a.example/s', 1.1)).toEqual([double, single]);
  expect(spriteUrls('https://a.example/s', 3)).toEqual([double, single]);
});

test('the query stays behind the ending', () => {
  const [{ index, image }] = spriteUrls('https://a.example/s?key=1/2#x', 2);
  expect([index, image]).toEqual(['https://a.example/s@2x.json?key=1/2', 'https://a.example/s@2x.png?key=1/2']);
});

test('several sprites prefix names with their ids, except the default one', () => {
  expect(spritePlaces(undefined)).toEqual([]);
  expect(spritePlaces('https://a.example/s')).toEqual([{ id: '', url: 'https://a.example/s' }]);
  const several = [
    { id: 'default', url: 'https://a.example/s' },
    { id: 'roads', url: 'HTTP://a.example/r' },
  ];
  expect(spritePlaces(several).map(({ id }) => id)).toEqual(['', 'roads']);
  expect(spriteProblems(several)).toEqual([]);
});

test.each(['mapbox://sprites/a', '/sprite', 'file:///etc/sprite', 'sprite', ''])(
  '%j is not loaded, and told',
  (url) => {
    expect(spritePlaces(url)).toEqual([]);
    expect(spriteProblems(url)).toEqual([`Not loaded from ${url}: only URLs of http and https are`]);
  },
);

test('sprites beyond the bound are not loaded', () => {
  const many = Array.from({ length: maxSprites + 1 }, (_, i) => ({ id: `${i}`, url: `https://a.example/${i}` }));
  expect(spritePlaces(many)).toHaveLength(maxSprites);
  expect(spriteProblems(many)).toEqual([
    `Not loaded from https://a.example/${maxSprites}: a style may have ${maxSprites} sprites`,
  ]);
});

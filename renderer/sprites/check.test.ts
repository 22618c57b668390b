import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { expect, test } from 'vitest';
import { plain, spriteOf } from '../testing/sprites.js';
import { checkSprites } from './check.js';

const styleOf = (layers: unknown[]) => ({ version: 8, sources: {}, layers }) as StyleSpecification;
const good = spriteOf({ red: plain('#ff0000') });
const plainStyle = styleOf([]);
const index = (images: object) => Buffer.from(JSON.stringify(images));

test('valid sprites have no problems', () => {
  expect(checkSprites(plainStyle, { files: [], missing: 0 })).toEqual([]);
  expect(checkSprites(plainStyle, { files: [good, { ...good, id: 'mine' }], missing: 0 })).toEqual([]);
});

test('invalid images, unreadable sprites and sprites that cannot be fetched are reported', () => {
  const some = {
    ...good,
    id: 'mine',
    index: index({ red: { x: 0, y: 0, width: 9, height: 9 }, broken: {}, far: { x: 99 } }),
  };
  const none = { ...good, index: index([]) };
  expect(checkSprites(plainStyle, { files: [some, none], missing: 1 })).toEqual([
    {
      layer: null,
      property: 'sprite',
      message: '1 could not be fetched; maps are drawn without until it can be',
    },
    { layer: null, property: 'sprite.mine', message: 'broken.x must be a whole number from 0 to 16' },
    { layer: null, property: 'sprite.mine', message: 'far.x must be a whole number from 0 to 16' },
    { layer: null, property: 'sprite', message: 'Not read: it must be a JSON object' },
  ]);
});

test('the first of many problems are reported with the number of others', () => {
  const all = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`n${i}`, {}]));
  const told = checkSprites(plainStyle, { files: [{ ...good, index: index(all) }], missing: 0 });
  expect(told).toHaveLength(21);
  expect(told.at(-1)?.message).toBe('and 10 more');
});

test('missing images with constant names are reported, unless a sprite could not be fetched or read', () => {
  const style = styleOf([
    { id: 'there', type: 'symbol', layout: { 'icon-image': 'red' } },
    { id: 'there too', type: 'fill', paint: { 'fill-pattern': ['image', 'mine:red'] } },
    { id: 'lost', type: 'fill', paint: { 'fill-pattern': 'blue' } },
    { id: 'lost too', type: 'symbol', layout: { 'icon-image': ['image', 'mine:blue'], 'text-field': 'blue' } },
    { id: 'by the feature', type: 'symbol', layout: { 'icon-image': '{kind}-11' } },
    {
      id: 'with a choice',
      type: 'symbol',
      layout: { 'icon-image': ['coalesce', ['image', 'blue'], ['image', 'red']] },
    },
  ]);
  const files = [good, { ...good, id: 'mine' }];
  expect(checkSprites(style, { files, missing: 0 })).toEqual([
    { layer: 'lost', property: 'fill-pattern', message: 'The sprite has no image "blue"' },
    { layer: 'lost too', property: 'icon-image', message: 'The sprite has no image "mine:blue"' },
  ]);
  expect(checkSprites(style, { files, missing: 1 })).toHaveLength(1);
  expect(checkSprites(style, { files: [good, { ...good, id: 'mine', index: index([]) }], missing: 0 })).toHaveLength(1);
});

test('the first of many missing images are reported', () => {
  const layers = Array.from({ length: 30 }, (_, i) => ({
    id: `${i}`,
    type: 'background',
    paint: { 'background-pattern': `${i}` },
  }));
  const told = checkSprites(styleOf(layers), { files: [good], missing: 0 });
  expect(told).toHaveLength(21);
  expect(told.at(-1)).toEqual({ layer: null, property: 'sprite', message: 'and 10 more' });
});

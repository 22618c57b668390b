import { expect, test } from 'vitest';
import { plain, spriteOf } from '../testing/sprites.js';
import { checkSprites } from './check.js';

const good = spriteOf({ red: plain('#ff0000') });
const index = (images: object) => Buffer.from(JSON.stringify(images));

test('nothing is told of good sprites', () => {
  expect(checkSprites({ files: [], missing: 0 })).toEqual([]);
  expect(checkSprites({ files: [good, { ...good, id: 'mine' }], missing: 0 })).toEqual([]);
});

test('each image that is none, a sprite that can not be read, and those that can not be had are told', () => {
  const some = { ...good, id: 'mine', index: index({ red: { x: 0, y: 0, width: 9, height: 9 }, broken: {}, far: { x: 99 } }) };
  const none = { ...good, index: index([]) };
  expect(checkSprites({ files: [some, none], missing: 1 })).toEqual([
    { layer: null, property: 'sprite', message: '1 could not be fetched just now; maps are drawn without until it can be' },
    { layer: null, property: 'sprite.mine', message: 'broken.x must be a whole number from 0 to 16' },
    { layer: null, property: 'sprite.mine', message: 'far.x must be a whole number from 0 to 16' },
    { layer: null, property: 'sprite', message: 'Not read: it must be a JSON object' },
  ]);
});

test('of very many problems the first are told, and how many more there are', () => {
  const all = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`n${i}`, {}]));
  const told = checkSprites({ files: [{ ...good, index: index(all) }], missing: 0 });
  expect(told).toHaveLength(21);
  expect(told.at(-1)?.message).toBe('and 10 more');
});

import { expect, test } from 'vitest';
import { CellCache } from './cell-cache.js';

/** A cache of texts, and the cells that it asked for. */
function textsOf(maxSize: number) {
  const made: string[] = [];
  const cache = new CellCache<{ text: string }>(maxSize, 1, ({ text }) => text.length);
  const get = (key: string, cells: number[]) =>
    cache
      .get(key, cells, () => {
        made.push(key);
        return (cell) => {
          made.push(`${key}${cell}`);
          return { text: `${key}${cell}` };
        };
      })
      .map(({ text }) => text);
  return { get, made };
}

test('each cell of a key is prepared once, when it is first wanted', () => {
  const { get, made } = textsOf(1_000);
  expect(get('a', [2, 0])).toEqual(['a2', 'a0']);
  expect(get('a', [0, 1, 2])).toEqual(['a0', 'a1', 'a2']);
  expect(get('a', [1])).toEqual(['a1']);
  expect(get('a', [])).toEqual([]);
  expect(made).toEqual(['a', 'a2', 'a0', 'a', 'a1']);
});

test('a key is measured again when it gets more cells', () => {
  const { get, made } = textsOf(9);
  get('a', [0]);
  get('b', [0]);
  get('a', [1, 2]);
  made.length = 0;
  get('a', [0, 1, 2]);
  get('b', [0]);
  expect(made).toEqual(['b', 'b0']);
});

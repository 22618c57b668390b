import { expect, test } from 'vitest';
import { Surface } from './draw/surface.js';
import { type KnownView, KnownViews } from './known-views.js';

const surface = new Surface(100, 50);
/** Bytes of two pictures of its size. */
const viewBytes = (4 + 2) * 100 * 50;

/** Tells of a map of a view with this number of label candidates. Returns what is known of the view. */
function draw(views: KnownViews, key: string, count?: number): KnownView | undefined {
  const prepared = count === undefined ? undefined : { count, place: () => [] };
  return views.get(key) ?? views.add(key, surface, prepared);
}

test('a view is known from its second map on', () => {
  const views = new KnownViews(4 * viewBytes);
  expect(draw(views, 'a')).toBeUndefined();
  const known = draw(views, 'a');
  expect(known).toEqual({});
  expect(draw(views, 'a')).toBe(known);
});

test('views that were not drawn for longest are forgotten, and begin again', () => {
  const views = new KnownViews(4 * viewBytes);
  const known = 'abcde'.split('').map((key) => [draw(views, key), draw(views, key)][1]);
  expect(draw(views, 'e')).toBe(known[4]);
  expect(draw(views, 'b')).toBe(known[1]);
  expect(draw(views, 'a')).not.toBe(known[0]);
});

test('a view of more than half of the memory is never kept', () => {
  const views = new KnownViews(2 * viewBytes - 1);
  for (let i = 0; i < 3; i++) expect(draw(views, 'a')).toBeUndefined();
});

test('a view that returns after as many others as are kept is not kept', () => {
  const views = new KnownViews(4 * viewBytes);
  for (let i = 0; i < 3; i++) {
    for (const key of 'abcde') expect(draw(views, key)).toBeUndefined();
  }
});

test('the labels of the second map are kept', () => {
  const views = new KnownViews(2 ** 22);
  expect(draw(views, 'a', 1)).toBeUndefined();
  const known = draw(views, 'a', 2);
  expect(known?.prepared).toMatchObject({ count: 2 });
  expect(draw(views, 'a', 3)).toBe(known);
});

test('the more labels views have, the fewer are kept', () => {
  const kept = (count: number) => {
    const views = new KnownViews(2 ** 22);
    const keys = Array.from({ length: 100 }, (_, i) => `view ${i}`);
    for (const key of [...keys, ...keys].sort()) draw(views, key, count);
    return keys.filter((key) => views.get(key)).length;
  };
  // 4 MiB have space for pixels of 30,000 bytes, 256 KiB for tiles, and 20 KiB for each label. No view takes half.
  expect([0, 10, 80, 90].map(kept)).toEqual([14, 8, 2, 0]);
});

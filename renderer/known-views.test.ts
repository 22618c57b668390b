import { createCanvas } from '@napi-rs/canvas';
import { expect, test } from 'vitest';
import { KnownViews } from './known-views.js';

const canvas = createCanvas(100, 50);
/** Bytes of two pictures of the canvas. */
const viewBytes = 2 * 4 * 100 * 50;

test('a view is known from its second map on', () => {
  const views = new KnownViews(4 * viewBytes);
  expect(views.get('a', canvas)).toBeUndefined();
  const known = views.get('a', canvas);
  expect(known).toEqual({});
  expect(views.get('a', canvas)).toBe(known);
});

test('views that were not drawn for longest are forgotten, and begin again', () => {
  const views = new KnownViews(4 * viewBytes);
  const known = 'abcde'.split('').map((key) => [views.get(key, canvas), views.get(key, canvas)][1]);
  expect(views.get('e', canvas)).toBe(known[4]);
  expect(views.get('b', canvas)).toBe(known[1]);
  expect(views.get('a', canvas)).not.toBe(known[0]);
});

test('a view of more than half of the memory is never kept', () => {
  const views = new KnownViews(2 * viewBytes - 1);
  for (let i = 0; i < 3; i++) expect(views.get('a', canvas)).toBeUndefined();
});

test('a view that returns after as many others as are kept is not kept', () => {
  const views = new KnownViews(4 * viewBytes);
  for (let i = 0; i < 3; i++) {
    for (const key of 'abcde') expect(views.get(key, canvas)).toBeUndefined();
  }
});

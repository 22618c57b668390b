import { expect, test } from 'vitest';
import { cutText, limitText, shownText } from './wording.js';

test.each([
  [2 ** 31, '2 GiB'],
  [16 * 2 ** 20, '16 MiB'],
  [65_536, '64 KiB'],
  [1_536, '1536 bytes'],
  [900_000, '900000 bytes'],
  [0, '0 bytes'],
])('a limit of %d bytes is said as %s', (bytes, text) => {
  expect(limitText(bytes)).toBe(text);
});

test('a cut splits no surrogate pair', () => {
  expect(cutText('ab😀', 3)).toBe('ab');
  expect(cutText('ab😀', 4)).toBe('ab😀');
  expect(cutText('ab', 1)).toBe('a');
});

test('a text is shown whole, or shortened', () => {
  expect(shownText('ab😀', 4)).toBe('ab😀');
  expect(shownText('ab😀c', 4)).toBe('ab😀…');
  expect(shownText('ab😀', 3)).toBe('ab…');
});

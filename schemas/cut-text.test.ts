import { expect, test } from 'vitest';
import { cutText, shownText } from './cut-text.js';

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

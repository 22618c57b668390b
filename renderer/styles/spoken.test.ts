import { expect, test } from 'vitest';
import { isSpokenIn } from './spoken.js';

test.each([
  ['fr', [2.35, 48.86], 12, true],
  ['fr', [-71.2, 46.8], 12, true],
  ['fr', [2.35, 48.86], 7, false],
  ['fr', [11.25, 43.77], 12, false],
  ['it', [11.25, 43.77], 12, true],
  ['it', [10.18, 36.8], 12, false],
  ['es', [-58.4, -34.6], 12, true],
  ['de', [16.37, 48.2], 12, true],
  ['vi', [104.9, 11.56], 12, false],
  ['en', [2.35, 48.86], 12, false],
] as const)('local names are in %s at %j and zoom %d: %s', (language, center, zoom, expected) => {
  expect(isSpokenIn(language, { center, zoom })).toBe(expected);
});

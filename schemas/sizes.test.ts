import { expect, test } from 'vitest';
import { limitText } from './sizes.js';

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

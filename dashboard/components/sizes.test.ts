import { expect, it } from 'vitest';
import { sizeText } from './sizes';

// The limit of an upload read "2.15 GB", where its setting is 2 GiB.
it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_023, '1,023 bytes'],
  [1_024, '1 KiB'],
  [4_733_674, '4.51 MiB'],
  [1_048_575, '1,024 KiB'],
  [2_147_483_648, '2 GiB'],
])('%d bytes are %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

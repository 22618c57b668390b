import { expect, test } from 'vitest';
import { isTooOld, tooOldReason } from './versions.js';

test.each([
  ['18.16.1', true],
  ['25.3.14.14', true],
  ['25.7.1.1', true],
  ['25.8.1.5101', false],
  ['25.10.1.1', false],
  ['26.3.2.3-lts', false],
  ['100.1', false],
])('%s is too old: %s', (version, expected) => {
  expect(isTooOld(version)).toBe(expected);
});

test('the reason names both versions', () => {
  expect(tooOldReason('25.3.14.14')).toBe('it is version 25.3.14.14, but 25.8 is the oldest that is supported');
});

import { expect, test } from 'vitest';
import { acceptsCoding, isKnown } from './representations.js';

const etag = '"a1"';

test.each([
  [etag, true],
  [`W/${etag}`, true],
  [`"b2", W/${etag}`, true],
  ['*', true],
  ['"b2"', false],
  ['a1', false],
  ['', false],
  [undefined, false],
])('If-None-Match %s names the tag "a1": %s', (header, isNamed) => {
  expect(isKnown({ headers: { 'if-none-match': header } }, etag)).toBe(isNamed);
});

test.each([
  ['gzip', true],
  ['GZIP', true],
  ['br, gzip;q=0.5', true],
  ['*', true],
  ['br;q=1, *;q=0.1', true],
  ['gzip;q=0', false],
  ['gzip; q=0.000, *', false],
  ['*;q=0', false],
  ['br, deflate', false],
  ['x-gzip', false],
  ['', false],
  [undefined, false],
])('Accept-Encoding %s accepts gzip: %s', (header, isAccepted) => {
  expect(acceptsCoding({ headers: { 'accept-encoding': header } }, 'gzip')).toBe(isAccepted);
});

import { describe, expect, test } from 'vitest';
import { hourMs } from '../schemas/durations.js';
import { retryAfterDelay } from './retry-after.js';

const nowMs = Date.UTC(2026, 4, 17);

describe('Retry-After', () => {
  const atMs = Date.UTC(1994, 10, 6, 8, 49, 37);

  test.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'reads the date %s',
    (text) => {
      expect(retryAfterDelay(text, atMs - 1_000)).toBe(1_000);
      expect(retryAfterDelay(text, atMs + 1_000)).toBe(0);
    },
  );

  test('reads seconds', () => {
    expect(retryAfterDelay(' 120 ', nowMs)).toBe(120_000);
    expect(retryAfterDelay('0', nowMs)).toBe(0);
  });

  test('is at most a day', () => {
    // More than ten digits were ignored, so a receiver that asked for the longest pause got none.
    for (const seconds of ['86401', '9999999999', '99999999999', '9'.repeat(1_000)]) {
      expect(retryAfterDelay(seconds, nowMs)).toBe(24 * hourMs);
    }
    expect(retryAfterDelay('Sun, 06 Nov 2044 08:49:37 GMT', nowMs)).toBe(24 * hourMs);
  });

  test.each(['', '-1', '1.5', 'soon', '12h', '1e3', 'Infinity', '2026-01-01', 'Sun, 99 Foo 1994 08:49:37 GMT', '0x10'])(
    'ignores %j',
    (text) => expect(retryAfterDelay(text, nowMs)).toBeUndefined(),
  );
});

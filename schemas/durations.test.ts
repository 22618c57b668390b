/** A clock was set back by an hour. For this hour no positions were saved, so erasures waited for as long. */
import { expect, it } from 'vitest';
import { hasElapsed } from './durations.js';

it.each([
  ['before the end of the interval', 1_999, false],
  ['at its end', 2_000, true],
  ['after it', 9_000, true],
  ['after the clock was set back', 999, true],
])('an interval of one second, %s', (_when, nowMs, expected) => {
  expect(hasElapsed(1_000, 1_000, nowMs)).toBe(expected);
});

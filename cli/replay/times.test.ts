import { expect, test } from 'vitest';
import { parseDuration, parseMoment } from './times.js';

const nowMs = Date.UTC(2026, 5, 1, 12);

test.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['0h', 0],
  ['-2h', undefined],
  ['1.5h', undefined],
  ['24', undefined],
  ['10000d', 864_000_000_000],
  // Such a time has no date, and comparing events printed a stack.
  ['999999999d', undefined],
  ['', undefined],
])('the duration %j', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  ['-2h', Date.UTC(2026, 5, 1, 10)],
  ['-7d', Date.UTC(2026, 4, 25, 12)],
  ['2026-05-31', Date.UTC(2026, 4, 31)],
  ['2026-06-01T09:30:00+02:00', Date.UTC(2026, 5, 1, 7, 30)],
  ['2h', undefined],
  ['yesterday', undefined],
  ['-', undefined],
])('the moment %j', (text, expected) => {
  expect(parseMoment(text, nowMs)).toBe(expected);
});

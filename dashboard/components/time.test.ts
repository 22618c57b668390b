/** Times in words, compared with the browser's own format. */
import { expect, test } from 'vitest';
import { grouped } from './counts';
import { absoluteTime, isPast, relativeTime, shortTime, timeOfDay, untilOtherWordsMs, zoneAt } from './time';

test('a time has its day unless that is today', () => {
  const time = new Date(2026, 8, 5, 9, 5).toISOString();
  expect(shortTime(time, new Date(2026, 8, 5, 23, 59).getTime())).toBe('09:05:00');
  expect(shortTime(time, new Date(2026, 8, 6).getTime())).toBe('5 Sept, 09:05:00');
  expect(shortTime(time, new Date(2027, 8, 5).getTime())).toBe('5 Sept, 09:05:00');
});

test('dates and counts are written as the browser writes them', () => {
  const format = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  for (let month = 0; month < 12; month++) {
    const date = new Date(2026, month, 1 + 2 * month, 2 * month, 5, 59 - month);
    expect(absoluteTime(date.toISOString())).toBe(`${format.format(date)} ${zoneAt(date)}`);
    expect(timeOfDay(date.toISOString())).toBe(date.toLocaleTimeString('en-GB'));
  }
  for (const count of [0, 7, 999, 1_000, 12_345, 999_999, 1_234_567, 1_234.125]) {
    expect(grouped(count)).toBe(count.toLocaleString('en'));
  }
});

// A time without its zone was read as one of another zone, in a copied text or a picture of the page.
test('a time names its zone', () => {
  const behind = (offsetMin: number) => zoneAt({ getTimezoneOffset: () => offsetMin } as Date);
  expect([0, -120, 300, -345, 210].map(behind)).toEqual(['UTC', 'UTC+2', 'UTC-5', 'UTC+5:45', 'UTC-3:30']);
});

test('a relative time is read again in the moment in which its words change', () => {
  const nowMs = Date.UTC(2026, 8, 5);
  const ages = [
    -200_000_000, -90_000, -60_000, -1_500, -1, 0, 999, 1_000, 59_999, 60_000, 119_999, 3_599_999, 5_400_000,
  ];
  for (const ageMs of ages) {
    const time = new Date(nowMs - ageMs).toISOString();
    const thenMs = nowMs + untilOtherWordsMs(time, nowMs);
    const words = (atMs: number) => relativeTime(time, atMs);
    expect([ageMs, words(thenMs - 1)]).toEqual([ageMs, words(nowMs)]);
    // A wait of an hour may end before a change.
    if (thenMs - nowMs < 3_600_000) expect([ageMs, words(thenMs)]).not.toEqual([ageMs, words(nowMs)]);
  }
});

// A delivery that waited for an earlier one had its next attempt "31 minutes ago".
test('a time that has come is past, also in its own moment', () => {
  const time = new Date(2026, 8, 5, 9, 5).toISOString();
  const timeMs = Date.parse(time);
  expect([timeMs - 1, timeMs, timeMs + 1].map((nowMs) => isPast(time, nowMs))).toEqual([false, true, true]);
});

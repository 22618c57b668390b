/** Times in words, compared with the browser's own format. */
import { expect, test } from 'vitest';
import { grouped } from './counts';
import { absoluteTime, shortTime, timeOfDay } from './time';

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
    expect(absoluteTime(date.toISOString())).toBe(format.format(date));
    expect(timeOfDay(date.toISOString())).toBe(date.toLocaleTimeString('en-GB'));
  }
  for (const count of [0, 7, 999, 1_000, 12_345, 999_999, 1_234_567, 1_234.125]) {
    expect(grouped(count)).toBe(count.toLocaleString('en'));
  }
});

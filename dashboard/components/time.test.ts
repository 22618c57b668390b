/** Times in words, compared with the browser's own format. */
import { expect, test } from 'vitest';
import { grouped } from './counts';
import { absoluteTime, timeOfDay } from './time';

test('dates and counts are written as the browser writes them', () => {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
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

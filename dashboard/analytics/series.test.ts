import { expect, test } from 'vitest';
import { seriesOf, slotsOfAnswer } from './series';

const rowAt = (minute: string, entries: number) => ({
  start: `2026-03-01T${minute}:00.000Z`,
  local: `2026-03-01 ${minute}`,
  tag: 'shop',
  entries,
});
const metaOf = (hasMore: boolean) => ({
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-01T03:00:00.000Z',
  hasMore,
  interval: 'hour' as const,
  timeZone: 'UTC',
});

// Rows of hours that the browser did not expect were dropped, so the chart was empty beside a total of 1,956. A browser
// with other rules of a time zone than the server still meets such rows.
test('every row of an answer is in the chart, also one of an hour that the browser does not expect', () => {
  const rows = [rowAt('00:00', 1), rowAt('00:45', 20), rowAt('02:00', 300)];
  const { slots, keyOf } = slotsOfAnswer({ meta: metaOf(false), rows } as never);
  expect(slots.map(({ key }) => key.slice(11, 16))).toEqual(['00:00', '00:45', '01:00', '02:00']);
  expect(seriesOf(rows, slots, keyOf, 8)).toEqual([{ name: 'shop', values: [1, 20, 0, 300] }]);
});

// 150 tags over 71 hours are more rows than an answer has. The hours after its last row were drawn as 0.
test('the chart of a cut answer ends with its last row', () => {
  const rows = [rowAt('00:00', 1), rowAt('01:00', 20)];
  const keysOf = (hasMore: boolean) =>
    slotsOfAnswer({ meta: metaOf(hasMore), rows } as never).slots.map(({ key }) => key.slice(11, 16));
  expect(keysOf(true)).toEqual(['00:00', '01:00']);
  expect(keysOf(false)).toEqual(['00:00', '01:00', '02:00']);
});

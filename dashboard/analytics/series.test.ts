import { expect, test } from 'vitest';
import { seriesOf, slotsOfAnswer } from './series';

// Rows of hours that the browser did not expect were dropped, so the chart was empty beside a total of 1,956. A browser
// with other rules of a time zone than the server still meets such rows.
test('every row of an answer is in the chart, also one of an hour that the browser does not expect', () => {
  const rowAt = (minute: string, entries: number) => ({
    ...{ start: `2026-03-01T${minute}:00.000Z`, local: `2026-03-01 ${minute}`, tag: 'shop', entries },
  });
  const rows = [rowAt('00:00', 1), rowAt('00:45', 20), rowAt('02:00', 300)];
  const meta = { from: '2026-03-01T00:00:00.000Z', to: '2026-03-01T03:00:00.000Z', hasMore: false };
  const { slots, keyOf } = slotsOfAnswer({ meta: { ...meta, interval: 'hour', timeZone: 'UTC' }, rows } as never);
  expect(slots.map(({ key }) => key.slice(11, 16))).toEqual(['00:00', '00:45', '01:00', '02:00']);
  expect(seriesOf(rows, slots, keyOf, 8)).toEqual([{ name: 'shop', values: [1, 20, 0, 300] }]);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bucketNames, minutesText } from './format.js';
import { type Preset, rangeOf, slotsOf } from './range.js';

const dayMs = 86_400_000;
const now = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2035, 0, 1) }).map((timeMs) => new Date(timeMs));
const preset = fc.constantFrom<Preset>('24h', '7d', '30d', '90d');
const dates = { fromDate: '', toDate: '' };

it('has a bar for each hour or day of a range, also for those in which nothing happened', () => {
  fc.assert(
    fc.property(now, preset, (time, chosen) => {
      const range = rangeOf({ preset: chosen, zone: 'utc', ...dates }, time);
      const slots = slotsOf(range.from!, time.toISOString(), range);
      const counts = { '24h': 24, '7d': 7, '30d': 30, '90d': 90, dates: 0 };
      // On the stroke of an hour or day its own bar has not begun.
      const isStroke = time.getTime() % (chosen === '24h' ? 3_600_000 : dayMs) === 0;
      expect(slots).toHaveLength(counts[chosen] - (isStroke ? 1 : 0));
      expect(new Set(slots.map(({ key }) => key)).size).toBe(slots.length);
      expect(range.from!.startsWith(slots[0]!.key)).toBe(true);
    }),
  );
});

it('takes dates as inclusive, in hours when they are few, and asks for nothing that is not a date', () => {
  const rangeIn = (fromDate: string, toDate: string) => rangeOf({ preset: 'dates', zone: 'utc', fromDate, toDate });
  expect(rangeIn('2026-03-01', '2026-03-01')).toMatchObject({
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-03-02T00:00:00.000Z',
    interval: 'hour',
  });
  expect(rangeIn('2026-03-01', '2026-03-09').interval).toBe('day');
  expect(rangeIn('', '2026-03-09').from).toBeUndefined();
});

it.each([
  ['America/New_York', '2026-11-01T04:00:00Z', 25, ['01:00 GMT-04:00', '01:00 GMT-05:00']],
  ['Europe/Rome', '2026-10-24T22:00:00Z', 25, ['02:00 GMT+02:00', '02:00 GMT+01:00']],
  ['Europe/Rome', '2026-03-28T23:00:00Z', 23, []],
])(
  'tells apart the hours that a clock in %s shows twice (fault: they had one name)',
  (timeZone, from, hours, twice) => {
    const to = new Date(Date.parse(from) + hours * 3_600_000).toISOString();
    const names = slotsOf(from, to, { interval: 'hour', timeZone }).map(({ longName }) => longName);
    expect(new Set(names).size).toBe(hours);
    expect(names.filter((name) => name.includes('GMT')).map((name) => name.slice(-'02:00 GMT+02:00'.length))).toEqual(
      twice,
    );
  },
);

it('names durations and the buckets of a histogram', () => {
  expect([0.5, 0.995, 4.26, 45, 100, 125, 3_600].map(minutesText)).toEqual([
    '30 s',
    '1 min',
    '4.3 min',
    '45 min',
    '1 h 40 min',
    '2 h 5 min',
    '2.5 days',
  ]);
  expect(bucketNames([1, 5, 60, 1_440])).toEqual(['< 1 min', '1–5 min', '5 min–1 h', '1 h–1 d', '≥ 1 d']);
});

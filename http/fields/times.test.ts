import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTime } from './times.js';

const iso = (text: string): string | undefined => {
  const time = parseTime(text);
  return time === undefined ? undefined : new Date(time).toISOString();
};

describe('written dates', () => {
  test.each([
    ['2029-01-01', '2029-01-01T00:00:00.000Z'],
    ['2029-01-01T09:30Z', '2029-01-01T09:30:00.000Z'],
    ['2029-01-01T09:30:15', '2029-01-01T09:30:15.000Z'],
    ['2029-01-01 09:30:15.5', '2029-01-01T09:30:15.500Z'],
    ['2029-01-01T09:30:15.123456789Z', '2029-01-01T09:30:15.123Z'],
    ['2029-01-01T09:30:00+02:00', '2029-01-01T07:30:00.000Z'],
    ['2029-01-01T09:30:00-0530', '2029-01-01T15:00:00.000Z'],
    // ISO 8601 allows an offset of hours alone, and PostgreSQL writes it into CSV.
    ['2029-01-01T09:30:00+02', '2029-01-01T07:30:00.000Z'],
    ['2029-01-01 09:30:00.5-11', '2029-01-01T20:30:00.500Z'],
    ['2029-01-01 09:30:00+00', '2029-01-01T09:30:00.000Z'],
    // Forms and query strings turn an unencoded plus sign into a space.
    ['2029-01-01T09:30:00 02:00', '2029-01-01T07:30:00.000Z'],
    ['2029-01-01T09:30 0200', '2029-01-01T07:30:00.000Z'],
    ['2029-01-01T09:30 02', '2029-01-01T07:30:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['Jan 1, 2029', '2029-01-01T00:00:00.000Z'],
    ['january 31 2029', '2029-01-31T00:00:00.000Z'],
    ['Jan 1, 2029 09:30', '2029-01-01T09:30:00.000Z'],
    ['1 Jan 2029', '2029-01-01T00:00:00.000Z'],
    ['Mon, 01 Jan 2029 09:30:00 +0200', '2029-01-01T07:30:00.000Z'],
    ['Mon, 01 Jan 2029 09:30:00 GMT', '2029-01-01T09:30:00.000Z'],
    // A template or a query string of JavaScript writes a Date so. It was refused.
    ['Mon Jan 01 2029 09:30:15 GMT+0200 (Eastern European Standard Time)', '2029-01-01T07:30:15.000Z'],
    ['Mon Jan 01 2029 09:30:15 GMT 0200 (GMT+02:00)', '2029-01-01T07:30:15.000Z'],
    ['Mon Jan 01 2029 09:30:15 GMT-0330', '2029-01-01T13:00:15.000Z'],
    ['Mon Jan 01 2029', '2029-01-01T00:00:00.000Z'],
    ['  2029-01-01  ', '2029-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, expected) => expect(iso(text)).toBe(expected));

  test.each([
    '0',
    '1',
    '2029',
    '2029-1-1',
    '2029-02-29',
    '2029-02-30',
    '2029-13-01',
    '2029-00-10',
    '2029-01-00',
    '2029-01-01T24:00Z',
    '2029-01-01T09:60Z',
    '2029-01-01T09:30:60Z',
    '2029-01-01T09:30+24:00',
    '2029-01-01T09:30+24',
    '2029-01-01T09:30+2',
    '2029-01-01T09:30 24:00',
    '2029-01-01 09:30 02:00',
    '2029-01-01T09:30  02:00',
    'Feb 30, 2029',
    'Janvier 1, 2029',
    'Tue, 01 Jan 2029 09:30:00 GMT',
    'Tue Jan 01 2029',
    'Mon Jan 01 2029 09:30:15',
    'Mon Jan 01 2029 09:30:15 GMT+2400',
    'Mon Jan 01 2029 09:30:15 GMT+0200 (a) (b)',
    '1/2/2029',
    'tomorrow',
    '',
    'NaN',
  ])('%s is refused', (text) => expect(parseTime(text)).toBeUndefined());

  test('reads every date that JavaScript writes', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          expect(parseTime(date.toISOString())).toBe(date.getTime());
          expect(parseTime(date.toUTCString())).toBe(Math.floor(date.getTime() / 1000) * 1000);
        },
      ),
    );
  });

  test('any text is read or refused, without an exception', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const time = parseTime(text);
        expect(time === undefined || Number.isFinite(time)).toBe(true);
      }),
    );
  });
});

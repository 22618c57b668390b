/** Accepted forms of operating hours, and a comparison with luxon's wall clock around changes of daylight saving. */
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, test } from 'vitest';
import { dayNames } from '../../schemas/json/constants.js';
import type { OperatingHours } from '../../schemas/json/geofence.js';
import { compileHours, parseOperatingHours } from './hours.js';
import { minutes } from './testing/flat-world.js';

const parse = (value: unknown) => {
  const parsed = parseOperatingHours(value);
  return parsed.ok ? parsed.value : parsed.problem.rule;
};

describe('forms', () => {
  test.each([
    ['0:45', '00:45'],
    ['00:45', '00:45'],
    ['12:45 AM', '00:45'],
    ['12:00am', '00:00'],
    ['12:00 PM', '12:00'],
    ['9:00pm', '21:00'],
    ['09:05 a.m.', '09:05'],
    [' 7:30 ', '07:30'],
    ['23:59', '23:59'],
  ])('time %j is %s', (given, normal) => {
    expect(parse({ Mon: [[given, '24:00']] })).toEqual({ Mon: [[normal, '24:00']] });
  });

  test.each(['13:00 PM', '0:30 AM', '24:01', '25:00', '9', '9:5', '9:60', '', '9:00 xm', '-1:00', 900, null, ['9:00']])(
    'time %j is refused',
    (given) => expect(parse({ Mon: [[given, '23:00']] })).toMatch(/times as h:mm aa or HH:mm for Mon/),
  );

  test('24:00 is a closing time only', () => {
    expect(parse({ Sun: [['00:00', '24:00']] })).toEqual({ Sun: [['00:00', '24:00']] });
    expect(parse({ Sun: [['24:00', '01:00']] })).toMatch(/24:00 is a closing time only/);
  });

  test('accepts full and short day names in any case, and returns Mon to Sun', () => {
    const given = { SUNDAY: [], fri: [['9:00 AM', '5:00 PM']], Monday: [['22:00', '02:00']] };
    expect(JSON.stringify(parse(given))).toBe('{"Mon":[["22:00","02:00"]],"Fri":[["09:00","17:00"]],"Sun":[]}');
    expect(parse(JSON.stringify(given))).toEqual(parse(given));
  });

  test.each(['tues', 'm', '', '__proto__', 'holiday'])('day %j is refused', (day) => {
    expect(parse(JSON.stringify({ x: [] }).replace('"x"', JSON.stringify(day)))).toMatch(/day names/);
  });

  test('a day given twice is refused', () => expect(parse({ Sun: [], sunday: [] })).toMatch(/Sun twice/));

  test.each([
    ['{', 'object'],
    ['', 'object'],
    ['[]', 'object'],
    [[], 'object'],
    [7, 'object'],
    [undefined, 'object'],
    [{ Mon: '9:00-17:00' }, 'list'],
    [{ Mon: null }, 'list'],
    [{ Mon: ['9:00', '17:00'] }, 'pairs'],
    [{ Mon: [['9:00']] }, 'pairs'],
    [{ Mon: [['9:00', '10:00', '11:00']] }, 'pairs'],
    [{ Mon: Array.from({ length: 25 }, () => ['9:00', '10:00']) }, 'at most 24'],
  ])('%j is refused', (given, reason) => expect(parse(given)).toContain(reason));

  test('a day may have 24 pairs', () => {
    const pairs = Array.from({ length: 24 }, () => ['09:00', '10:00']);
    expect(parse({ Mon: pairs })).toEqual({ Mon: pairs });
  });

  test.each([[{}], ['{}'], [null], ['null']])('%j means no hours', (given) => {
    expect(parseOperatingHours(given)).toEqual({ ok: true, value: null });
  });

  test('the normal form is stable', () => {
    fc.assert(
      fc.property(someHours, (some) => {
        const hours = { Mon: [], ...some };
        expect(parse(hours)).toEqual(hours);
      }),
    );
  });
});

const clock = fc.integer({ min: 0, max: 1_439 }).map((minute) => {
  const hour = String(Math.floor(minute / 60)).padStart(2, '0');
  return `${hour}:${String(minute % 60).padStart(2, '0')}`;
});
const pair = fc.tuple(clock, fc.oneof({ weight: 5, arbitrary: clock }, fc.constant('24:00')));
const someHours: fc.Arbitrary<OperatingHours> = fc.record(
  Object.fromEntries(dayNames.map((day) => [day, fc.array(pair, { maxLength: 3 })])),
  { requiredKeys: [] },
);

/** The oracle: a pair of today contains the wall clock, or one of yesterday that ends after midnight does. */
function isOpenByTheWords(hours: OperatingHours, timeZone: string, instantMs: number): boolean {
  const wall = DateTime.fromMillis(instantMs, { zone: timeZone });
  const now = wall.hour * 60 + wall.minute;
  const toMinutes = (text: string) => Number(text.split(':')[0]) * 60 + Number(text.split(':')[1]);
  const pairsOf = (weekday: number) =>
    (hours[dayNames[(weekday + 6) % 7]!] ?? []).map(
      ([opening, closing]) => [toMinutes(opening), toMinutes(closing)] as const,
    );
  const today = pairsOf(wall.weekday).some(([from, to]) => (to > from ? from <= now && now < to : from <= now));
  const yesterday = pairsOf(wall.weekday - 1).some(([from, to]) => to <= from && now < to);
  return today || yesterday;
}

// Changes of daylight saving in 2025 and 2026, and two unusual ones; offsets of whole, half and quarter hours.
const changes: readonly [timeZone: string, changesAt: string][] = [
  ['America/New_York', '2026-03-08T07:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['Europe/Berlin', '2025-10-26T01:00:00Z'],
  ['Australia/Adelaide', '2025-10-04T16:30:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Pacific/Chatham', '2025-09-27T14:00:00Z'],
  ['America/St_Johns', '2026-03-08T05:30:00Z'],
  // Until 2011 clocks in Newfoundland changed a minute past midnight, within a quarter of an hour.
  ['America/St_Johns', '2010-03-14T03:31:00Z'],
  // Samoa skipped a whole Friday.
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['Asia/Kolkata', '2025-06-01T00:00:00Z'],
  ['Asia/Kathmandu', '2025-06-01T00:00:00Z'],
  ['UTC', '2025-06-01T00:00:00Z'],
];

describe('open now?', () => {
  test.each(changes)('%s about %s as luxon reads the clock', (timeZone, changesAt) => {
    const middle = Date.parse(changesAt);
    const near = fc.oneof(
      fc.integer({ min: -minutes(180), max: minutes(180) }),
      fc.integer({ min: -minutes(8 * 1_440), max: minutes(8 * 1_440) }),
    );
    fc.assert(
      fc.property(someHours, fc.array(near, { minLength: 20, maxLength: 20 }), (hours, offsets) => {
        const isOpen = compileHours(hours, timeZone);
        for (const offset of [...offsets, 0, -1]) {
          expect(isOpen(middle + offset)).toBe(isOpenByTheWords(hours, timeZone, middle + offset));
        }
      }),
      { numRuns: 60 },
    );
  });

  const at = (text: string) => Date.parse(text);

  test('opening counts as open, closing as closed', () => {
    const isOpen = compileHours({ Mon: [['09:00', '17:00']] }, 'UTC');
    expect(isOpen(at('2025-06-02T08:59:59.999Z'))).toBe(false);
    expect(isOpen(at('2025-06-02T09:00:00Z'))).toBe(true);
    expect(isOpen(at('2025-06-02T16:59:59.999Z'))).toBe(true);
    expect(isOpen(at('2025-06-02T17:00:00Z'))).toBe(false);
  });

  test('a closing time at or before the opening time is on the next day, also from Sunday to Monday', () => {
    const isOpen = compileHours({ Sun: [['22:00', '02:00']], Wed: [['06:00', '06:00']] }, 'UTC');
    expect(isOpen(at('2025-06-08T23:00:00Z'))).toBe(true);
    expect(isOpen(at('2025-06-09T01:59:00Z'))).toBe(true);
    expect(isOpen(at('2025-06-09T02:00:00Z'))).toBe(false);
    expect(isOpen(at('2025-06-02T01:00:00Z'))).toBe(true);
    expect(isOpen(at('2025-06-04T06:00:00Z'))).toBe(true);
    expect(isOpen(at('2025-06-05T05:59:00Z'))).toBe(true);
    expect(isOpen(at('2025-06-05T06:00:00Z'))).toBe(false);
  });

  test('a day without pairs is closed', () => {
    const isOpen = compileHours({ Mon: [] }, 'UTC');
    expect(isOpen(at('2025-06-02T12:00:00Z'))).toBe(false);
    expect(isOpen(at('2025-06-03T12:00:00Z'))).toBe(false);
  });

  test('an hour that occurs twice is open twice', () => {
    const isOpen = compileHours({ Sun: [['01:00', '02:00']] }, 'America/New_York');
    expect(isOpen(at('2026-11-01T05:30:00Z'))).toBe(true);
    expect(isOpen(at('2026-11-01T06:30:00Z'))).toBe(true);
    expect(isOpen(at('2026-11-01T07:00:00Z'))).toBe(false);
  });

  test('works before 1970', () => {
    expect(compileHours({ Wed: [['23:00', '24:00']] }, 'UTC')(-1)).toBe(true);
  });

  test('an unknown time zone is refused', () => expect(() => compileHours({}, 'Mars/Olympus')).toThrow(RangeError));
});

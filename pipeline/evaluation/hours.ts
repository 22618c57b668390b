/** Parses operating hours to a normal form, and compiles them to a test of instants. */
import { minuteMs } from '../../schemas/durations.js';
import { invalid, type Validated } from '../../schemas/errors.js';
import { type DayName, dayNames } from '../../schemas/json/constants.js';
import type { OperatingHours } from '../../schemas/json/geofence.js';
import { parsedJson } from '../../schemas/parsed-json.js';
import type { OpeningHours } from './types.js';
import { zoneOffset } from './zone-offset.js';

const param = 'operatingHours';
const maxPairsPerDay = 24;
const dayMinutes = 1_440;
const weekMinutes = 7 * dayMinutes;
/** Minutes from the Monday before 1970-01-01, which was a Thursday. */
const epochMinuteOfWeek = 3 * dayMinutes;

const fullDayNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const dayByName = new Map<string, DayName>(
  dayNames.flatMap((name, index) => [
    [name.toLowerCase(), name],
    [fullDayNames[index]!, name],
  ]),
);

type Pair = [opening: string, closing: string];

/**
 * Parses an object, or its JSON text, of day names (full or three letters, any case) with lists of [opening, closing]
 * pairs as `h:mm aa` or `HH:mm`. Returns the normal form: Mon to Sun, HH:mm. Without days (`{}` or null) it returns
 * null: always open.
 */
export function parseOperatingHours(value: unknown): Validated<OperatingHours | null> {
  const given = typeof value === 'string' ? parsedJson(value) : value;
  if (given === null) return { ok: true, value: null };
  if (typeof given !== 'object' || Array.isArray(given))
    return invalid(param, 'must be an object of days, or its JSON');

  const byDay = new Map<DayName, Pair[]>();
  for (const [name, pairs] of Object.entries(given)) {
    const day = dayByName.get(name.toLowerCase());
    if (day === undefined)
      return invalid(param, `must have day names as keys, not ${JSON.stringify(name.slice(0, 40))}`);
    if (byDay.has(day)) return invalid(param, `must name each day once, but has ${day} twice`);
    const parsed = parsePairs(day, pairs);
    if (!parsed.ok) return parsed;
    byDay.set(day, parsed.value);
  }
  if (byDay.size === 0) return { ok: true, value: null };
  return { ok: true, value: inWeekOrder(byDay) };
}

function parsePairs(day: DayName, pairs: unknown): Validated<Pair[]> {
  if (!Array.isArray(pairs)) return invalid(param, `must have a list of [opening, closing] pairs for ${day}`);
  if (pairs.length > maxPairsPerDay) return invalid(param, `must have at most ${maxPairsPerDay} pairs for ${day}`);
  const parsed: Pair[] = [];
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2)
      return invalid(param, `must have [opening, closing] pairs for ${day}`);
    const opening = normalizeTime(pair[0]);
    const closing = normalizeTime(pair[1]);
    if (opening === undefined || closing === undefined || opening === '24:00') {
      return invalid(param, `must have times as h:mm aa or HH:mm for ${day}; 24:00 is a closing time only`);
    }
    parsed.push([opening, closing]);
  }
  return { ok: true, value: parsed };
}

/** Returns a time as HH:mm from 00:00 to 24:00, or undefined. */
function normalizeTime(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const match = /^\s*(\d{1,2}):([0-5]\d)(?:\s*([ap])\.?m\.?)?\s*$/i.exec(value);
  if (match === null) return undefined;
  const hour = hourOfDay(Number(match[1]), match[3]?.toLowerCase());
  if (hour === undefined || (hour === 24 && match[2] !== '00')) return undefined;
  return `${String(hour).padStart(2, '0')}:${match[2]}`;
}

function hourOfDay(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 24 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === 'p' ? 12 : 0);
}

function inWeekOrder(byDay: ReadonlyMap<DayName, Pair[]>): OperatingHours {
  const hours: OperatingHours = {};
  for (const day of dayNames) {
    const pairs = byDay.get(day);
    if (pairs !== undefined) hours[day] = pairs;
  }
  return hours;
}

/**
 * Compiles hours in normal form to a test of instants, by the wall clock of an IANA time zone. Intervals are half-open:
 * open at the opening time, closed at the closing time. Throws RangeError for an unknown zone. The result takes more
 * than a kilobyte: share it between fences with the same hours and zone.
 */
export function compileHours(hours: OperatingHours, timeZone: string): OpeningHours {
  const offset = zoneOffset(timeZone);
  const open = minutesOpen(hours);
  return (instantMs) => {
    const localMinute = Math.floor((instantMs + offset(instantMs)) / minuteMs);
    const minute = (((localMinute + epochMinuteOfWeek) % weekMinutes) + weekMinutes) % weekMinutes;
    return ((open[minute >> 3]! >> (minute & 7)) & 1) === 1;
  };
}

/** Returns one bit per minute of the week from Monday 00:00: 1,260 bytes. */
function minutesOpen(hours: OperatingHours): Uint8Array {
  const open = new Uint8Array(weekMinutes / 8);
  dayNames.forEach((day, index) => {
    for (const [opening, closing] of hours[day] ?? []) {
      const from = minuteOfDay(opening);
      const until = minuteOfDay(closing) > from ? minuteOfDay(closing) : minuteOfDay(closing) + dayMinutes;
      for (let minute = from; minute < until; minute++) {
        const minuteOfWeek = (index * dayMinutes + minute) % weekMinutes;
        open[minuteOfWeek >> 3]! |= 1 << (minuteOfWeek & 7);
      }
    }
  });
  return open;
}

const minuteOfDay = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

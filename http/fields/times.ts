/**
 * Parses written dates: ISO 8601, two common forms of prose, `Jan 1, 2029` and RFC 2822's
 * `Mon, 01 Jan 2029 09:30:00 +0200`, and the text of a `Date` of JavaScript. It does not use `Date.parse`, which
 * depends on the machine's time zone and accepts February 30.
 */

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const clock = '(?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d+))?)?';
const offset = '(?<zone>Z|UTC|GMT|[+-]\\d{2}(?::?\\d{2})?)';
const month =
  '(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';

const weekday = `(?<weekday>${dayNames.join('|')})`;

const isoDate = '(?<year>\\d{4})-(?<month>\\d{2})-(?<day>\\d{2})';

const forms = [
  new RegExp(`^${isoDate}(?:[T ]${clock}\\s?${offset}?)?$`, 'i'),
  // Forms and query strings turn the plus sign of an offset into a space, unless it is encoded.
  new RegExp(`^${isoDate}T${clock}(?<zone> \\d{2}(?::?\\d{2})?)$`, 'i'),
  new RegExp(`^${month} (?<day>\\d{1,2}),? (?<year>\\d{4})(?:,? ${clock}(?: ?${offset})?)?$`, 'i'),
  new RegExp(`^(?:${weekday}, )?(?<day>\\d{1,2}) ${month} (?<year>\\d{4})(?: ${clock}(?: ?${offset})?)?$`, 'i'),
  // JavaScript writes a Date into a text or a query string as `Mon Jan 01 2029 09:30:00 GMT+0200 (a name)`.
  new RegExp(
    `^${weekday} ${month} (?<day>\\d{2}) (?<year>\\d{4})(?: ${clock} GMT(?<zone>[+ -]\\d{4})(?: \\([^()]*\\))?)?$`,
    'i',
  ),
];

function monthIndex(text: string): number {
  const named = monthNames.indexOf(text.slice(0, 3).toLowerCase());
  return named >= 0 ? named : Number(text) - 1;
}

/** Returns minutes east of UTC; undefined when out of range. */
function offsetMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined || !/^[+ -]/.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.length > 3 ? zone.slice(-2) : 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** Returns the epoch ms of a calendar date at midnight UTC; undefined when there is no such day. */
function midnight(year: number, monthOfYear: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, monthOfYear, day);
  return date.getUTCMonth() === monthOfYear && date.getUTCDate() === day ? date.getTime() : undefined;
}

/**
 * Returns the epoch milliseconds of a written date or date and time. Without a zone it is in UTC; a date alone is its
 * first instant. Undefined for any other form and for dates that do not exist. Digits beyond the millisecond are
 * dropped.
 */
export function parseTime(text: string): number | undefined {
  const trimmed = text.trim();
  const parts = forms.map((form) => form.exec(trimmed)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return undefined;
  const start = midnight(Number(parts.year), monthIndex(parts.month as string), Number(parts.day));
  const zone = offsetMinutes(parts.zone);
  const hour = Number(parts.hour ?? 0);
  const minute = Number(parts.minute ?? 0);
  const second = Number(parts.second ?? 0);
  if (start === undefined || zone === undefined || hour > 23 || minute > 59 || second > 59) return undefined;
  if (parts.weekday !== undefined && dayNames[new Date(start).getUTCDay()] !== parts.weekday.toLowerCase())
    return undefined;
  const milliseconds = Number((parts.fraction ?? '').slice(0, 3).padEnd(3, '0'));
  return start + ((hour * 60 + minute - zone) * 60 + second) * 1000 + milliseconds;
}

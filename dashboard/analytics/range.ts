/** The range of time that analytics show, in the time zone of the browser or in UTC. */

/** A range that ends now, or `dates`: one between two dates. */
export type Preset = '24h' | '7d' | '30d' | '90d' | 'dates';
/** Whose days are counted: those of the browser or of UTC. */
export type Zone = 'local' | 'utc';
type Interval = 'hour' | 'day';

/** What the page asks for: a preset, or dates of a time zone. */
export interface RangeChoice {
  readonly preset: Preset;
  readonly zone: Zone;
  /** `YYYY-MM-DD`, both inclusive, of the preset `dates`. */
  readonly fromDate: string;
  readonly toDate: string;
}

/** As the API takes it. Without `to` it lasts until now. */
export interface QueryRange {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly interval: Interval;
  readonly timeZone: string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Where clocks are set back, one of three days has an hour more. */
const maxHourlyMs = 3 * dayMs + hourMs;
const days = { '7d': 7, '30d': 30, '90d': 90 } as const;

/** Names the time zone of the browser, such as `Europe/Rome`. */
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the instant at which the date begins, `more` days later. */
function startOf(date: string, zone: Zone, more = 0): Date | undefined {
  const [year, month, day] = date.split('-').map(Number);
  if (year === undefined || month === undefined || day === undefined || !(year > 0 && month > 0 && day > 0)) return;
  return zone === 'utc' ? new Date(Date.UTC(year, month - 1, day + more)) : new Date(year, month - 1, day + more);
}

/** Returns the date in the zone, as `YYYY-MM-DD`. */
export function dateOf(time: Date, zone: Zone): string {
  if (zone === 'utc') return time.toISOString().slice(0, 10);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

const format = (zone: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options });

/** Returns a function that tells the minutes of the zone's wall clock. */
function minutesOf(timeZone: string): (timeMs: number) => number {
  const minutes = format(timeZone, { minute: 'numeric' });
  return (timeMs) => Number(minutes.format(timeMs));
}

const startFrom = (timeMs: number, minutes: number): number => Math.floor(timeMs / minuteMs - minutes) * minuteMs;

/**
 * Returns when the hour of the zone's wall clock begins, which in India is half past an hour of UTC. By the rule of the
 * server: the time without the wall clock's minutes.
 */
export const startOfHour = (timeMs: number, timeZone: string): number => startFrom(timeMs, minutesOf(timeZone)(timeMs));

/** Returns whole hours and days, so that no bar but the last one is of a part of them. */
export function rangeOf({ preset, zone, fromDate, toDate }: RangeChoice, now = new Date()): QueryRange {
  const timeZone = zone === 'utc' ? 'UTC' : localZone;
  if (preset === '24h') {
    const from = new Date(startOfHour(now.getTime() - 23 * hourMs, timeZone));
    return { from: from.toISOString(), to: undefined, interval: 'hour', timeZone };
  }
  if (preset !== 'dates') {
    const from = startOf(dateOf(now, zone), zone, 1 - days[preset]);
    return { from: from?.toISOString(), to: undefined, interval: 'day', timeZone };
  }
  const [from, to] = [startOf(fromDate, zone), startOf(toDate, zone, 1)];
  const isShort = from && to && to.getTime() - from.getTime() <= maxHourlyMs;
  return { from: from?.toISOString(), to: to?.toISOString(), interval: isShort ? 'hour' : 'day', timeZone };
}

/** A bar of time. `key` is the answer's `start` of an hour and `local` of a day. */
export interface Slot {
  readonly key: string;
  readonly name: string;
  readonly longName: string;
}

/** Returns all hours or days from `from` to `to`, also those in which nothing happened. */
export function slotsOf(
  from: string,
  to: string,
  { interval, timeZone }: Pick<QueryRange, 'interval' | 'timeZone'>,
): Slot[] {
  return interval === 'hour' ? hoursOf(from, to, timeZone) : daysOf(from, to, timeZone);
}

/** Returns a function that names the hour of a time. An hour that the clock shows twice has the offset in its name. */
function hourNames(timeZone: string): (timeMs: number) => string {
  const long = format(timeZone, { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit' });
  const zoned = format(timeZone, { timeZoneName: 'longOffset' });
  return (timeMs) => {
    const name = `${long.format(timeMs)}:00`;
    const isTwice = [timeMs - hourMs, timeMs + hourMs].some((other) => `${long.format(other)}:00` === name);
    if (!isTwice) return name;
    return `${name} ${zoned.formatToParts(timeMs).find(({ type }) => type === 'timeZoneName')!.value}`;
  };
}

function hoursOf(from: string, to: string, timeZone: string): Slot[] {
  const slots: Slot[] = [];
  const short = format(timeZone, { hour: '2-digit' });
  const nameOf = hourNames(timeZone);
  const minutes = minutesOf(timeZone);
  const endMs = Date.parse(to);
  for (let timeMs = Date.parse(from); timeMs < endMs; ) {
    const passed = minutes(timeMs);
    const startMs = startFrom(timeMs, passed);
    // The hour's name is that of a time in it: where clocks change by half an hour, it may begin before the change.
    slots.push({ key: new Date(startMs).toISOString(), name: `${short.format(timeMs)}:00`, longName: nameOf(timeMs) });
    timeMs = startMs + hourMs;
  }
  return slots;
}

function daysOf(from: string, to: string, timeZone: string): Slot[] {
  const slots: Slot[] = [];
  const numbers = format(timeZone, { year: 'numeric', month: '2-digit', day: '2-digit' });
  const keyAt = (timeMs: number): string => numbers.format(timeMs).split('/').reverse().join('-');
  const last = keyAt(Date.parse(to) - 1);
  const [short, long] = [
    format('UTC', { day: 'numeric', month: 'short' }),
    format('UTC', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
  ];
  for (let key = keyAt(Date.parse(from)); key <= last; ) {
    const noon = new Date(`${key}T12:00:00Z`);
    slots.push({ key, name: short.format(noon), longName: long.format(noon) });
    key = new Date(noon.getTime() + dayMs).toISOString().slice(0, 10);
  }
  return slots;
}

/** The range of time that analytics show, in the time zone of the browser or in UTC. */

export type Preset = '24h' | '7d' | '30d' | '90d' | 'dates';
export type Zone = 'local' | 'utc';
export type Interval = 'hour' | 'day';

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

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const maxHourlyMs = 3 * dayMs;
const days = { '7d': 7, '30d': 30, '90d': 90 } as const;

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

/** Returns whole hours and days, so that no bar but the last one is of a part of them. */
export function rangeOf({ preset, zone, fromDate, toDate }: RangeChoice, now = new Date()): QueryRange {
  const timeZone = zone === 'utc' ? 'UTC' : localZone;
  if (preset === '24h') {
    const from = new Date(Math.floor(now.getTime() / hourMs - 23) * hourMs);
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

const format = (zone: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...options });

/** Returns all hours or days from `from` to `to`, also those in which nothing happened. */
export function slotsOf(
  from: string,
  to: string,
  { interval, timeZone }: Pick<QueryRange, 'interval' | 'timeZone'>,
): Slot[] {
  const slots: Slot[] = [];
  if (interval === 'hour') {
    const [short, long] = [
      format(timeZone, { hour: '2-digit', minute: '2-digit' }),
      format(timeZone, { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }),
    ];
    for (let timeMs = Date.parse(from); timeMs < Date.parse(to); timeMs += hourMs) {
      const time = new Date(timeMs);
      slots.push({ key: time.toISOString(), name: short.format(time), longName: long.format(time) });
    }
    return slots;
  }
  const zone = timeZone === 'UTC' ? 'utc' : 'local';
  const last = dateOf(new Date(Date.parse(to) - 1), zone);
  const [short, long] = [
    format('UTC', { day: 'numeric', month: 'short' }),
    format('UTC', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
  ];
  for (let key = dateOf(new Date(from), zone); key <= last; ) {
    const noon = new Date(`${key}T12:00:00Z`);
    slots.push({ key, name: short.format(noon), longName: long.format(noon) });
    key = new Date(noon.getTime() + dayMs).toISOString().slice(0, 10);
  }
  return slots;
}

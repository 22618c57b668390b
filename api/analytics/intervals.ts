/** Groups counts by hour or day of a time zone. */
import Type from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import { readTimeZone, timeZoneSchema } from './range.js';

interface Intervals {
  /** Columns to select, with a trailing comma; group and order by `start` and `local`. */
  readonly select: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly meta: object;
}

type Interval = 'hour' | 'day';

/**
 * Column expressions for each interval. ClickHouse's start of an hour is wrong in zones whose clocks change by half an
 * hour or within an hour; subtracting the wall clock's minutes is right everywhere.
 */
const columns: Readonly<Record<Interval, (time: string) => { start: string; local: string }>> = {
  hour: (time) => ({
    start: `toStartOfMinute(${time}) - toIntervalMinute(toMinute(${time}, {timeZone:String}))`,
    local: `formatDateTime(${time}, '%F %H:00', {timeZone:String})`,
  }),
  day: (time) => ({
    start: `toStartOfDay(${time}, {timeZone:String})`,
    local: `formatDateTime(${time}, '%F', {timeZone:String})`,
  }),
};

/** Reads `interval`; null if it is not given. */
export const readInterval = (reader: FieldReader): Interval | null => reader.choice('interval', ['hour', 'day']);

/**
 * Reads `timeZone` and returns what a query needs to count by hour or day of it. `timeColumn` is the time that is
 * counted.
 */
export function readIntervals(reader: FieldReader, interval: Interval, timeColumn: string): Intervals {
  const timeZone = readTimeZone(reader);
  const { start, local } = columns[interval](`each.${timeColumn}`);
  return {
    select: `toDateTime64(${start}, 3, 'UTC') AS start, ${local} AS local, `,
    parameters: { timeZone },
    meta: { interval, timeZone },
  };
}

/**
 * Returns the parameters `interval` and `timeZone`. With `byDefault` null, a query without `interval` counts in total.
 */
export const intervalsSchema = (byDefault: 'day' | null) => ({
  interval: Type.Optional(Type.Enum(['hour', 'day'], byDefault === null ? {} : { default: byDefault })),
  ...timeZoneSchema,
});

/** The columns of a row that say which hour or day it counts. */
export const intervalRow = {
  start: Type.String({ format: 'date-time', description: 'Start of the hour or day' }),
  local: Type.String({
    description: 'Local label in the time zone: 2026-03-29 for a day, 2026-03-29 01:00 for an hour',
  }),
};
/** What `meta` repeats of the parameters, with defaults filled in. */
export const intervalMeta = {
  interval: Type.Optional(Type.Enum(['hour', 'day'])),
  timeZone: Type.Optional(Type.String()),
};

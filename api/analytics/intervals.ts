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

export const readInterval = (reader: FieldReader): Interval | null => reader.choice('interval', ['hour', 'day']);

export function readIntervals(reader: FieldReader, interval: Interval, timeColumn: string): Intervals {
  const timeZone = readTimeZone(reader);
  const { start, local } = columns[interval](`each.${timeColumn}`);
  return {
    select: `toDateTime64(${start}, 3, 'UTC') AS start, ${local} AS local, `,
    parameters: { timeZone },
    meta: { interval, timeZone },
  };
}

export const intervalsSchema = (byDefault: 'day' | null) => ({
  interval: Type.Optional(Type.Enum(['hour', 'day'], byDefault === null ? {} : { default: byDefault })),
  ...timeZoneSchema,
});

export const intervalRow = {
  start: Type.String({ format: 'date-time', description: 'Start of the hour or day' }),
  local: Type.String({
    description: 'Local label in the time zone: 2026-03-29 for a day, 2026-03-29 01:00 for an hour',
  }),
};
export const intervalMeta = {
  interval: Type.Optional(Type.Enum(['hour', 'day'])),
  timeZone: Type.Optional(Type.String()),
};

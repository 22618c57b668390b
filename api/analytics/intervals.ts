/** Hours and days of a time zone, by which counts are broken down. */
import Type from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import { readTimeZone, timeZoneSchema } from './range.js';

export interface Intervals {
  /** Columns to select, with a comma after them; `start` and `local` are there to group and order by. */
  readonly select: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly meta: object;
}

export type Interval = 'hour' | 'day';

/**
 * Columns for each interval. The engine's own start of an hour is wrong where clocks change by half an hour, or amid an
 * hour; the minutes that the wall clock shows are right everywhere.
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
  start: Type.String({ format: 'date-time', description: 'When the hour or day began' }),
  local: Type.String({ description: 'Its name in the time zone: 2026-03-29 for a day, 2026-03-29 01:00 for an hour' }),
};
export const intervalMeta = {
  interval: Type.Optional(Type.Enum(['hour', 'day'])),
  timeZone: Type.Optional(Type.String()),
};

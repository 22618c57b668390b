/** Reads the time range and the time zone of a query. */
import Type from 'typebox';
import type { FieldReader } from '../../http/fields/reader.js';
import { dayMs, hourMs } from '../../schemas/durations.js';
import { timeZoneNamed } from '../../schemas/time-zone.js';
import { utcTime } from '../../schemas/wire/common.js';

const defaultRangeMs = 7 * dayMs;
const maxRangeDays = 92;
/** Where clocks are set back, one of the days has an hour more: from October to December, for example. */
const maxRangeMs = maxRangeDays * dayMs + hourMs;
/** Well within the range of the store's time type. */
const latestMs = Date.UTC(2200, 0, 1);

/** Epoch ms; `from` is inclusive, `to` is exclusive. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Reads `from` and `to` as epoch ms: `to` is now by default, `from` seven days before. Refuses an empty range and one
 * that is too long.
 * @param aheadMs how far the default of `to` lies ahead of now.
 */
export function readRange(reader: FieldReader, nowMs: number, aheadMs = 0): Range {
  const givenToMs = readInstant(reader, 'to');
  const toMs = givenToMs ?? nowMs + aheadMs;
  const fromMs = readInstant(reader, 'from') ?? Math.max(0, (givenToMs ?? nowMs) - defaultRangeMs);
  if (fromMs >= toMs) reader.refuse('from', 'must be before `to`');
  if (toMs - fromMs > maxRangeMs) reader.refuse('from', `must be at most ${maxRangeDays} days before \`to\``);
  return { fromMs, toMs };
}

function readInstant(reader: FieldReader, name: 'from' | 'to'): number | null {
  const timeMs = reader.time(name);
  return timeMs === null || (timeMs >= 0 && timeMs <= latestMs)
    ? timeMs
    : reader.refuse(name, 'must lie between 1970 and 2200');
}

/** Returns the range as parameters of the views. */
export const rangeParameters = ({ fromMs, toMs }: Range) => ({ from: utcTime(fromMs), to: utcTime(toMs) });

/** Reads the canonical IANA name; UTC by default. */
export function readTimeZone(reader: FieldReader): string {
  const name = reader.text('timeZone');
  if (name === null) return 'UTC';
  return timeZoneNamed(name) ?? reader.refuse('timeZone', timeZoneRule) ?? 'UTC';
}

/** What an error says about a time zone that does not exist. */
export const timeZoneRule = 'must be an IANA time zone, such as Europe/Rome';

const instant = (text: string) =>
  Type.Optional(Type.String({ description: `A date, or an ISO 8601 date and time; UTC without an offset. ${text}` }));

/** The parameters `from` and `to`. */
export const rangeSchema = {
  from: instant(`Inclusive; 7 days before \`to\` by default, at most ${maxRangeDays} days before it`),
  to: instant('Exclusive; now by default'),
};
/** The parameter `timeZone`. */
export const timeZoneSchema = {
  timeZone: Type.Optional(Type.String({ default: 'UTC', description: 'IANA name; sets where hours and days begin' })),
};

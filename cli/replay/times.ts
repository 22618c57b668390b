/** Parses times and durations of the command line. Pure. */
import { parseTime } from '../../http/fields/times.js';
import { dayMs, hourMs, minuteMs } from '../../schemas/durations.js';

const unitMs = { s: 1_000, m: minuteMs, h: hourMs, d: dayMs } as const;
const durationPattern = /^(\d{1,9})([smhd])$/;

/** A longer one would lead to times that no date has. */
const maxDurationMs = 10_000 * dayMs;

/** What {@link parseDuration} takes, for messages. */
export const durationRule = 'must be a duration of at most 10000d, such as 60s, 30m, 24h or 7d';

/** Returns the milliseconds of `90s`, `30m`, `24h` or `7d`; undefined for other text, and for more than 10,000 d. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = durationPattern.exec(text) ?? [];
  if (count === undefined) return undefined;
  const durationMs = Number(count) * unitMs[unit as keyof typeof unitMs];
  return durationMs <= maxDurationMs ? durationMs : undefined;
}

/** What {@link parseMoment} takes, for messages. */
export const momentRule = 'must be a date or a time of at most 10000d ago, such as 2029-01-01T09:30:00Z or -2h';

/** Returns the epoch ms of a date, or of a duration before now such as `-2h`; undefined for any other text. */
export function parseMoment(text: string, nowMs: number): number | undefined {
  const durationMs = text.startsWith('-') ? parseDuration(text.slice(1)) : undefined;
  return durationMs === undefined ? parseTime(text) : nowMs - durationMs;
}

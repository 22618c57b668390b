/** Parses times and durations of the command line. Pure. */
import { parseTime } from '../../http/fields/times.js';
import { dayMs, hourMs, minuteMs } from '../../schemas/durations.js';

const unitMs = { s: 1_000, m: minuteMs, h: hourMs, d: dayMs } as const;
const durationPattern = /^(\d{1,9})([smhd])$/;

/** Returns the milliseconds of `90s`, `30m`, `24h` or `7d`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = durationPattern.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** Returns the epoch ms of a date, or of a duration before now such as `-2h`; undefined for any other text. */
export function parseMoment(text: string, nowMs: number): number | undefined {
  const durationMs = text.startsWith('-') ? parseDuration(text.slice(1)) : undefined;
  return durationMs === undefined ? parseTime(text) : nowMs - durationMs;
}

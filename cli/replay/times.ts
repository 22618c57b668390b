/** Times and durations as the command line takes them. Pure. */
import { parseTime } from '../../http/fields/times.js';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const durationPattern = /^(\d{1,9})([smhd])$/;

/** Milliseconds of `90s`, `30m`, `24h` or `7d`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = durationPattern.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** Epoch ms of a written date, or of a duration before now, as `-2h`; undefined for any other text. */
export function parseMoment(text: string, nowMs: number): number | undefined {
  const durationMs = text.startsWith('-') ? parseDuration(text.slice(1)) : undefined;
  return durationMs === undefined ? parseTime(text) : nowMs - durationMs;
}

/**
 * Arguments in which `--from -2h` reads `--from=-2h`: on its own, a value that begins with a dash would be taken for an
 * option.
 */
export function withRelativeTimes(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const option = joined.at(-1);
    if ((option === '--from' || option === '--to') && /^-\d/.test(arg)) joined[joined.length - 1] = `${option}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}

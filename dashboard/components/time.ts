/** Times for people, in the zone and language of the browser. */

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' });
const absolute = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Returns for example "3 minutes ago". */
export function relativeTime(time: string, nowMs = Date.now()): string {
  const seconds = (Date.parse(time) - nowMs) / 1_000;
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / length), unit);
}

export const absoluteTime = (time: string): string => absolute.format(new Date(time));

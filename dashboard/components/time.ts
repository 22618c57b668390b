/**
 * Times for people, in the zone of the browser and in English. Dates are put together here: the browser's first format
 * of a date or number loads the tables of all languages, which takes as long as the first picture of a view. Analytics
 * use that format nevertheless: their times are in a zone that is chosen.
 */
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];

const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

const unitOf = (seconds: number) => units.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);

let relative: Intl.RelativeTimeFormat | undefined;

/** Returns for example "3 minutes ago". */
export function relativeTime(time: string, nowMs = Date.now()): string {
  const seconds = (Date.parse(time) - nowMs) / 1_000;
  const [unit, length] = unitOf(seconds);
  relative ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' });
  return relative.format(Math.trunc(seconds / length), unit);
}

/** Tests whether the time has come: what was to happen then is due. */
export const isPast = (time: string, nowMs = Date.now()): boolean => Date.parse(time) <= nowMs;

/** A timer of a browser ends at once if it is longer than 25 days. Clocks are set meanwhile, and computers sleep. */
const longestWaitMs = 3_600_000;

/** Returns the milliseconds after which {@link relativeTime} says something else, at most an hour. */
export function untilOtherWordsMs(time: string, nowMs = Date.now()): number {
  const ageMs = nowMs - Date.parse(time);
  const unitMs = unitOf(ageMs / 1_000)[1] * 1_000;
  // "Now" is a second on both sides. Before it, each unit ends a millisecond after its full length.
  const waitMs = ageMs > -1_000 ? unitMs - (ageMs % unitMs) : (-ageMs % unitMs) + 1;
  return Math.min(waitMs, longestWaitMs);
}

/** Returns for example "09:05:00". */
export const timeOfDay = (time: string): string => new Date(time).toTimeString().slice(0, 'hh:mm:ss'.length);

const dayOfYear = (date: Date): string => `${date.getDate()} ${months[date.getMonth()]}`;

/** Returns for example "UTC+2", "UTC-3:30" or "UTC": the zone of the browser at that time. */
export function zoneAt(date: Date): string {
  const aheadMin = -date.getTimezoneOffset();
  const [hours, minutes] = [Math.floor(Math.abs(aheadMin) / 60), Math.abs(aheadMin) % 60];
  const text = `${hours}${minutes === 0 ? '' : `:${String(minutes).padStart(2, '0')}`}`;
  return aheadMin === 0 ? 'UTC' : `UTC${aheadMin > 0 ? '+' : '-'}${text}`;
}

/** Returns for example "5 Sept 2026, 09:05:00 UTC+2". */
export function absoluteTime(time: string): string {
  const date = new Date(time);
  return `${dayOfYear(date)} ${date.getFullYear()}, ${timeOfDay(time)} ${zoneAt(date)}`;
}

/** Returns for example "09:05:00", or "5 Sept, 09:05:00" unless that is today. */
export function shortTime(time: string, nowMs = Date.now()): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date(nowMs).toDateString();
  return isToday ? timeOfDay(time) : `${dayOfYear(date)}, ${timeOfDay(time)}`;
}

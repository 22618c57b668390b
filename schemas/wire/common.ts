/** Formats times as the SDKs require, and removes unset fields from objects. */
import { dayMs } from '../durations.js';

const twoDigits = Array.from({ length: 60 }, (_, number) => `${number}`.padStart(2, '0')) as [string];
const threeDigits = Array.from({ length: 1000 }, (_, number) => `${number}`.padStart(3, '0')) as [string];
let dayOfPart = Number.NaN;
let dayPart = '';

/**
 * Formats epoch milliseconds, rounded down, as 2018-06-12T13:44:10.535. The text of the last day is cached, because
 * most times fall on one day: that takes a fifth of the time of `Date`.
 */
export function utcTime(epochMs: number): string {
  const day = Math.floor(epochMs / dayMs);
  if (day !== dayOfPart) {
    dayPart = new Date(day * dayMs).toISOString().slice(0, -'13:44:10.535Z'.length);
    dayOfPart = day;
  }
  const ms = Math.floor(epochMs - day * dayMs);
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const [minute, second] = [twoDigits[minutes % 60], twoDigits[seconds % 60]];
  return `${dayPart}${twoDigits[hours]}:${minute}:${second}.${threeDigits[ms % 1000]}`;
}

/** Formats epoch milliseconds, rounded down, as 2018-06-12T13:44:10.535Z. */
export const isoTime = (epochMs: number): string => `${utcTime(epochMs)}Z`;

/** Text that JSON writes as it is. Surrogate pairs are too, but only JSON.stringify finds halves of them. */
const plain = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** Returns the JSON of a text. For most it takes a third of the time of JSON.stringify. */
export const quoted = (value: string): string => (plain.test(value) ? `"${value}"` : JSON.stringify(value));

/** Returns a text member of a JSON object, with a comma before it, or nothing when it is unset. */
export const textMember = (name: string, value: string | null): string =>
  value === null ? '' : `,"${name}":${quoted(value)}`;

/** Returns the object without fields that are null or undefined. The API omits unset fields. */
export function withoutUnset<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) result[name] = value;
  }
  return result as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Returns a GeoJSON point, in degrees. */
export const point = (longitude: number, latitude: number) => ({
  type: 'Point' as const,
  coordinates: [longitude, latitude] as [number, number],
});

/**
 * Writes a list of texts as one: comma-separated, or as JSON where that would read as another list. Every reader of
 * lists takes both.
 */
export const listText = (items: readonly string[]): string =>
  items.some((item) => item.includes(',')) || items[0]?.startsWith('[') ? JSON.stringify(items) : items.join(',');

/**
 * The one rule for each type of field. It is the same for JSON bodies, forms, query strings and cells of tables.
 *
 * A reader returns the value; undefined when the field is not given; null when the field breaks the rule of its type.
 * A field is not given when it is absent, null, or text that is empty or blank. Where one value is wanted and a form
 * repeats a key (`tag=a&tag=b`), the last value counts.
 */
import { parseTime } from './times.js';

/** Undefined: not given. Null: given, but not of this type. */
export type Read<T> = T | undefined | null;

/** What an error says about a value of another type. */
export const rules = {
  boolean: 'must be true or false',
  number: 'must be a number',
  text: 'must be text',
  date: 'must be a date or an ISO 8601 date and time, such as 2029-01-01 or 2029-01-01T09:30:00Z',
} as const;

const decimal = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*$/i;

/** Earlier epoch times are years, seconds or the uptime of a device. */
export const minEpochMs = Date.UTC(2000, 0, 1);
/** The last millisecond that ISO 8601 writes with four digits of the year. */
const maxEpochMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  // Most texts begin with a printable ASCII character and need no copy.
  return first > 32 && first < 127 ? false : text.trim() === '';
}

/** Returns whether a field has a value. */
export const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(typeof value === 'string' && isBlank(value));

/**
 * The texts of a key that a form or a query string repeats. A list of JSON is another one: where one value is wanted,
 * it is of the wrong type.
 */
export class RepeatedTexts extends Array<string> {}

/** Returns the one value of a field; undefined when it is not given. */
export function single(value: unknown): unknown {
  const last: unknown = value instanceof RepeatedTexts ? value.at(-1) : value;
  return isGiven(last) ? last : undefined;
}

/** Reads a finite number, or its decimal text. Unlike {@link readNumber} it takes no repeated value: for list items. */
export function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && decimal.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/**
 * Reads text, or a number as its text, as in `externalId: 123`. A number beyond 2^53 was rounded, so different ids
 * would become one. The caller checks that the text is well-formed.
 */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? String(value) : null;
}

/** Reads a finite number, given as a number or as decimal text. Hexadecimal text and `Infinity` are not numbers. */
export function readNumber(value: unknown): Read<number> {
  const given = single(value);
  return given === undefined ? undefined : numberOf(given);
}

/** Reads true or false, given as such, as text in any case, or as 1 or 0. */
export function readBoolean(value: unknown): Read<boolean> {
  const given = single(value);
  if (given === undefined || typeof given === 'boolean') return given;
  switch (typeof given === 'string' ? given.trim().toLowerCase() : given) {
    case 'true':
    case '1':
    case 1:
      return true;
    case 'false':
    case '0':
    case 0:
      return false;
    default:
      return null;
  }
}

/** Reads text as {@link textOf} does. */
export function readText(value: unknown): Read<string> {
  const given = single(value);
  return given === undefined ? undefined : textOf(given);
}

/**
 * Reads a point in time as epoch milliseconds. It may be a written date (see times.ts), or epoch milliseconds from the
 * year 2000 on, as a number or as its text.
 */
export function readDate(value: unknown): Read<number> {
  const given = single(value);
  if (given === undefined) return undefined;
  const written = typeof given === 'string' ? parseTime(given) : undefined;
  if (written !== undefined) return written;
  const epochMs = numberOf(given);
  return epochMs !== null && epochMs >= minEpochMs && epochMs <= maxEpochMs ? Math.round(epochMs) : null;
}

/** Returns the parts of comma-separated text, trimmed. */
export const commaSeparated = (text: string): string[] => text.split(',').map((part) => part.trim());

/** Returns whether a value is an object with keys, as opposed to a list, bytes or a plain value. */
export const isDictionary = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

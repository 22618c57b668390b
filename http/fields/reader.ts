/**
 * Reads fields that came as JSON, as a form, in a query or as a row of a file, and keeps the first thing that is wrong.
 *
 * Flows in: names and values as a parser left them. Flows out: typed values, and one catalogued error. The rules of
 * text are the same everywhere: absent, null and '' mean not given; numbers and booleans may come as text; structured
 * values may come as JSON text.
 * The order in which fields are read is the order in which they are complained of.
 */

import { ApiError, type ErrorCode, type Validated } from '../../schemas/errors.js';
import { parseJson } from './json-text.js';
import { malformedTextIn, wellFormedRule } from './text.js';
import { parseTime } from './times.js';

export type RawFields = Readonly<Record<string, unknown>>;

/** The outcome of reading a request: what it asks, or the catalogued error to answer. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ApiError };

/** Bounds of texts, in UTF-16 units. */
export const maxNameLength = 256;
export const maxTextLength = 4_096;

const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A finite number, given as such or as text. */
export function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'string' && decimal.test(value.trim())) return parseNumber(Number(value));
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A boolean, given as such or as `true` or `false` in any case. */
export function parseBoolean(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return undefined;
  return { true: true, false: false }[value.trim().toLowerCase() as 'true' | 'false'];
}

/** Text, or a number that stands for it, as in `externalId: 123`. */
export function parseText(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' ? value : undefined;
}

/** Is it an object with keys, as opposed to a list or a plain value? */
export const isDictionary = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');

/** Of `tag=a&tag=b` a parser makes a list; where one value is wanted the last one counts. */
const lastOfRepeated = (value: unknown): unknown =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string') ? value.at(-1) : value;

interface NumberRange {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly unit?: string;
}

/**
 * See the head of the file. Readers answer null for a field that isn't given or is broken; `outcome` tells the two
 * apart.
 */
export class FieldReader {
  readonly #fields: RawFields;
  #error: ApiError | undefined;

  constructor(fields: RawFields) {
    this.#fields = fields;
  }

  /** The names that are given, in the order they came. */
  names(): string[] {
    return Object.keys(this.#fields).filter((name) => this.value(name) !== undefined);
  }

  /** The value as it came; undefined when it isn't given. */
  value(name: string): unknown {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    return isGiven(value) ? value : undefined;
  }

  /** Notes what is wrong with a field, unless something was wrong before. */
  refuse(param: string, rule: string, code: ErrorCode = 'invalid_parameter'): null {
    this.#error ??= new ApiError(code, `${param}: ${rule}`, { param });
    return null;
  }

  /** Takes over the outcome of a validation. */
  take<T>(validated: Validated<T>): T | null {
    return validated.ok ? validated.value : this.refuse(validated.problem.param, validated.problem.rule);
  }

  text(name: string, maxLength = maxNameLength): string | null {
    const value = this.#scalar(name);
    if (value === undefined) return null;
    const text = parseText(value);
    if (text === undefined) return this.refuse(name, 'must be text');
    if (!text.isWellFormed()) return this.refuse(name, wellFormedRule);
    return text.length <= maxLength ? text : this.refuse(name, `must have at most ${maxLength} characters`);
  }

  requiredText(name: string, maxLength = maxNameLength): string {
    return this.#required(name, this.text(name, maxLength)) ?? '';
  }

  boolean(name: string): boolean | null {
    const value = this.#scalar(name);
    if (value === undefined) return null;
    return parseBoolean(value) ?? this.refuse(name, 'must be true or false');
  }

  number(name: string, { minimum = -Infinity, maximum = Infinity, unit = '' }: NumberRange = {}): number | null {
    const value = this.#scalar(name);
    if (value === undefined) return null;
    const number = parseNumber(value);
    if (number !== undefined && number >= minimum && number <= maximum) return number;
    const limits =
      maximum < Infinity ? ` from ${minimum} to ${maximum}` : minimum > -Infinity ? ` of at least ${minimum}` : '';
    return this.refuse(name, `must be a number${limits}${unit && ` ${unit}`}`);
  }

  integer(name: string, range: Required<Pick<NumberRange, 'minimum' | 'maximum'>>): number | null {
    const number = this.number(name, range);
    if (number === null || Number.isInteger(number)) return number;
    return this.refuse(name, `must be a whole number from ${range.minimum} to ${range.maximum}`);
  }

  /** One of a few words, in any case; answers the word as it stands in `words`. */
  choice<const Word extends string>(name: string, words: readonly Word[]): Word | null {
    const value = this.#scalar(name);
    if (value === undefined) return null;
    const given = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
    return (
      words.find((word) => word.toLowerCase() === given) ?? this.refuse(name, `must be one of ${words.join(', ')}`)
    );
  }

  requiredChoice<const Word extends string>(name: string, words: readonly Word[]): Word | null {
    return this.#required(name, this.choice(name, words));
  }

  /** Epoch milliseconds of a written date. */
  time(name: string): number | null {
    const value = this.#scalar(name);
    if (value === undefined) return null;
    const time = typeof value === 'string' ? parseTime(value) : undefined;
    return (
      time ??
      this.refuse(name, 'must be a date or an ISO 8601 date and time, such as 2029-01-01 or 2029-01-01T09:30:00Z')
    );
  }

  /** A structured value: as it came, or parsed when it came as JSON text. Undefined when not given or broken. */
  structure(name: string, value: unknown = this.value(name)): unknown {
    if (typeof value !== 'string') return value;
    const parsed = parseJson(value);
    if (!parsed.ok) return this.refuse(name, `must be valid JSON: ${parsed.fault}`) ?? undefined;
    const malformed = malformedTextIn(parsed.value, name);
    return malformed === undefined ? parsed.value : (this.refuse(malformed, wellFormedRule) ?? undefined);
  }

  /** A list, which may also come as its JSON text or as comma-separated text. */
  list(name: string): unknown[] | undefined {
    const value = this.value(name);
    if (value === undefined || Array.isArray(value)) return value;
    if (typeof value !== 'string') return [value];
    if (!value.trim().startsWith('[')) return value.split(',');
    const list = this.structure(name, value);
    return Array.isArray(list) ? list : undefined;
  }

  /**
   * A dictionary that may come whole (`name`) or by key (`name.key`, `name[key]`), but not both ways at once.
   * Undefined when not given or broken. Values are as they came.
   */
  dictionary(name: string): Record<string, unknown> | undefined {
    const parts = this.#parts(name);
    if (this.value(name) === undefined) return parts.length > 0 ? Object.fromEntries(parts) : undefined;
    if (parts.length > 0) this.refuse(name, `can't be combined with ${name}.{key}`);
    const whole = this.structure(name);
    if (whole === undefined || isDictionary(whole)) return whole;
    this.refuse(name, 'must be a dictionary');
    return undefined;
  }

  /** The value if every field so far was right, else the first error. */
  outcome<T>(build: () => T): Outcome<T> {
    return this.#error === undefined ? { ok: true, value: build() } : { ok: false, error: this.#error };
  }

  #scalar(name: string): unknown {
    const value = lastOfRepeated(this.value(name));
    return isGiven(value) ? value : undefined;
  }

  #parts(name: string): [string, unknown][] {
    return this.names().flatMap((given): [string, unknown][] => {
      if (given.startsWith(`${name}.`)) return [[given.slice(name.length + 1), this.value(given)]];
      if (given.startsWith(`${name}[`) && given.endsWith(']'))
        return [[given.slice(name.length + 1, -1), this.value(given)]];
      return [];
    });
  }

  #required<T>(name: string, value: T | null): T | null {
    return value ?? this.refuse(name, 'is required');
  }
}

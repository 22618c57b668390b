/**
 * Reads the fields of a request, by name, by the rules of values.ts, and keeps the first error.
 *
 * Input: names and values as a parser left them. Output: typed values, or one catalogued error that names the
 * field and its rule. The order in which fields are read is the order in which errors are reported.
 */
import { type ApiError, type ErrorCode, fieldError, parameterError, type Validated } from '../../schemas/errors.js';
import type { Position } from '../../schemas/json/common.js';
import { readLatitudeLongitude, readStructure } from './structures.js';
import { wellFormedRule } from './text.js';
import {
  commaSeparated,
  isDictionary,
  isGiven,
  numberOf,
  type Read,
  readBoolean,
  readDate,
  readText,
  rules,
  single,
} from './values.js';

/** Fields by name as a query, form or JSON body gave them. Nothing is checked yet. */
export type RawFields = Readonly<Record<string, unknown>>;

/** The result of reading a request: its values, or the catalogued error to answer. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ApiError };

/** Returns the value, or throws the error to answer. */
export function accepted<T>(result: Outcome<T> | Validated<T>): T {
  if (result.ok) return result.value;
  throw 'error' in result ? result.error : parameterError(result.problem);
}

/** Bounds of texts, in UTF-16 units. */
export const maxNameLength = 256;
/** Longest description or name, in UTF-16 code units. */
export const maxTextLength = 4_096;

/** Bounds of a number, inclusive. Absent: none. */
export interface NumberRange {
  readonly minimum?: number;
  readonly maximum?: number;
  /** Plural, as in `minutes`. */
  readonly unit?: string;
}

const rangeText = ({ minimum, maximum, unit = '' }: NumberRange): string => {
  const after = unit && ` ${unit}`;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}${after}`;
  if (minimum !== undefined) return ` of at least ${minimum}${after}`;
  return maximum === undefined ? after : ` of at most ${maximum}${after}`;
};

/**
 * Reads the fields of one request. Its methods return null for a field that is not given or breaks its rule; `outcome`
 * tells the two apart.
 */
export class FieldReader {
  readonly #fields: RawFields;
  #error: ApiError | undefined;

  constructor(fields: RawFields) {
    this.#fields = fields;
  }

  /** Returns the names that are given, in their order. */
  names(): string[] {
    return Object.keys(this.#fields).filter((name) => this.value(name) !== undefined);
  }

  /** Returns the raw value; undefined when it is not given. */
  value(name: string): unknown {
    const value = Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
    return isGiven(value) ? value : undefined;
  }

  /** Notes an error, unless there is one already. */
  refuse(param: string, rule: string, code: ErrorCode = 'invalid_parameter'): null {
    this.#error ??= fieldError(code, { param, rule });
    return null;
  }

  /** Returns the value of a validation, or notes its problem. */
  take<T>(validated: Validated<T>): T | null {
    return validated.ok ? validated.value : this.refuse(validated.problem.param, validated.problem.rule);
  }

  /** Returns well-formed text; null when it is not given. `maxLength` is in UTF-16 code units. */
  text(name: string, maxLength = maxNameLength): string | null {
    const text = this.#read(name, readText, rules.text);
    if (text === null) return null;
    if (!text.isWellFormed()) return this.refuse(name, wellFormedRule);
    return text.length <= maxLength ? text : this.refuse(name, `must have at most ${maxLength} characters`);
  }

  /**
   * Returns well-formed text; the empty text when it is refused, which no caller sees: the outcome is an error then.
   */
  requiredText(name: string, maxLength = maxNameLength): string {
    return this.required(name, this.text(name, maxLength)) ?? '';
  }

  /** Returns a boolean; null when it is not given. Forms and query strings give it as text. */
  boolean(name: string): boolean | null {
    return this.#read(name, readBoolean, rules.boolean);
  }

  /** Returns a finite number in the range; null when it is not given. */
  number(name: string, range: NumberRange = {}): number | null {
    return this.#number(name, range, rules.number, () => true);
  }

  /** Reads a number without a fraction. */
  integer(name: string, range: NumberRange = {}): number | null {
    return this.#number(name, range, 'must be a whole number', Number.isInteger);
  }

  /** Reads one of a few words, in any case, and returns it as it is written in `words`. */
  choice<const Word extends string>(name: string, words: readonly Word[]): Word | null {
    const value = single(this.value(name));
    if (value === undefined) return null;
    const given = typeof value === 'string' ? value.trim().toLowerCase() : undefined;
    return (
      words.find((word) => word.toLowerCase() === given) ?? this.refuse(name, `must be one of ${words.join(', ')}`)
    );
  }

  /** Returns one of the words; null when it is refused. */
  requiredChoice<const Word extends string>(name: string, words: readonly Word[]): Word | null {
    return this.required(name, this.choice(name, words));
  }

  /** Reads a date as epoch milliseconds. */
  time(name: string): number | null {
    return this.#read(name, readDate, rules.date);
  }

  /** Reads a structured value: as it is, or parsed from JSON text. Undefined when not given or broken. */
  structure(name: string, value: unknown = this.value(name)): unknown {
    return this.take(readStructure(name, value)) ?? undefined;
  }

  /** Reads `latitude,longitude`, as query strings have it, and returns [longitude, latitude]. */
  latitudeLongitude(name: string): Position | null {
    const text = this.text(name);
    return text === null ? null : this.take(readLatitudeLongitude(name, text));
  }

  /**
   * Reads a list: as it is, as JSON text that begins with `[`, or as comma-separated text. Any other value is a list of
   * one. Undefined when not given or broken.
   */
  list(name: string): unknown[] | undefined {
    const value = this.value(name);
    if (value === undefined || Array.isArray(value)) return value;
    if (typeof value !== 'string') return [value];
    if (!value.trim().startsWith('[')) return commaSeparated(value);
    const list = this.structure(name, value);
    return Array.isArray(list) ? list : undefined;
  }

  /**
   * Reads a dictionary, either whole (`name`) or by key (`name.key`, `name[key]`), but not both ways at once. Its
   * values are raw. Undefined when not given or broken.
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

  /** Returns a value that was read, or notes that the field is required. */
  required<T>(name: string, value: T | null): T | null {
    return value ?? this.refuse(name, 'is required');
  }

  /** Returns the built value if every field so far followed its rule, else the first error. */
  outcome<T>(build: () => T): Outcome<T> {
    return this.#error === undefined ? { ok: true, value: build() } : { ok: false, error: this.#error };
  }

  #read<T>(name: string, read: (value: unknown) => Read<T>, rule: string): T | null {
    const value = read(this.value(name));
    if (value === undefined) return null;
    return value ?? this.refuse(name, rule);
  }

  #number(name: string, range: NumberRange, rule: string, accepts: (value: number) => boolean): number | null {
    const value = single(this.value(name));
    if (value === undefined) return null;
    const number = numberOf(value);
    const { minimum = -Infinity, maximum = Infinity } = range;
    if (number !== null && number >= minimum && number <= maximum && accepts(number)) return number;
    return this.refuse(name, `${rule}${rangeText(range)}`);
  }

  #parts(name: string): [string, unknown][] {
    const parts: [string, unknown][] = [];
    // Rows of files have a column for each key, so this is read often.
    for (const given in this.#fields) {
      if (!given.startsWith(name)) continue;
      const isDotted = given[name.length] === '.';
      if (!isDotted && !(given[name.length] === '[' && given.endsWith(']'))) continue;
      const value = this.value(given);
      if (value !== undefined) parts.push([given.slice(name.length + 1, isDotted ? undefined : -1), value]);
    }
    return parts;
  }
}

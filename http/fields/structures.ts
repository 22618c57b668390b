/** Reads values that have parts: JSON inside a field, positions, metadata. */
import type { MetadataFilter } from '../../pipeline/catalog/types.js';
import { invalid, type Validated } from '../../schemas/errors.js';
import type { Metadata, MetadataValue, Position } from '../../schemas/json/common.js';
import { parseWritableJson } from './json-text.js';
import { malformedTextIn, mayHoldSurrogates, prototypeName, prototypeRule, wellFormedRule } from './text.js';
import { isDictionary, isGiven, numberOf } from './values.js';

/** Reads a structured field, given as it is or as its JSON text. The value is undefined when the field is not given. */
export function readStructure(param: string, value: unknown): Validated<unknown> {
  if (!isGiven(value)) return { ok: true, value: undefined };
  if (typeof value !== 'string') return { ok: true, value };
  const parsed = parseWritableJson(value);
  if (!parsed.ok) return invalid(param, `must be valid JSON: ${parsed.fault}`);
  if (value.isWellFormed() && !mayHoldSurrogates(value)) return parsed;
  const malformed = malformedTextIn(parsed.value, param);
  return malformed === undefined ? parsed : invalid(malformed, wellFormedRule);
}

/** Tests for a missing altitude, or one to ignore. GeoJSON may have it as the third number of a position. */
const isIgnoredAltitude = (rest: readonly unknown[]): boolean =>
  rest.length === 0 || (rest.length === 1 && typeof numberOf(rest[0]) === 'number');

/** Reads one [longitude, latitude] in degrees, as bodies have it. Ignores an altitude. */
export function readPosition(param: string, value: unknown): Validated<Position> {
  if (!Array.isArray(value) || value.length < 2 || !isIgnoredAltitude(value.slice(2)))
    return invalid(param, 'must be [longitude,latitude]');
  const longitude = numberOf(value[0]);
  const latitude = numberOf(value[1]);
  if (longitude === null || latitude === null)
    return invalid(param, 'must be two finite numbers, [longitude,latitude]');
  if (Math.abs(longitude) > 180) return invalid(param, 'longitude, which comes first, must be -180 to 180');
  if (Math.abs(latitude) > 90) return invalid(param, 'latitude, which comes second, must be -90 to 90');
  return { ok: true, value: [longitude, latitude] };
}

/** Reads `latitude,longitude`, as query strings have it, and returns [longitude, latitude]. */
export function readLatitudeLongitude(param: string, text: string): Validated<Position> {
  const parts = text.split(',');
  const [latitude, longitude] = parts.map(numberOf);
  if (parts.length !== 2 || latitude == null || longitude == null) return invalid(param, 'must be latitude,longitude');
  if (Math.abs(latitude) > 90) return invalid(param, 'latitude must be -90 to 90');
  if (Math.abs(longitude) > 180) return invalid(param, 'longitude must be -180 to 180');
  return { ok: true, value: [longitude, latitude] };
}

interface MetadataLimits {
  readonly maxKeys: number;
  /** In UTF-16 units; absent: no limit. */
  readonly maxKeyLength?: number;
  readonly maxTextLength?: number;
}

/**
 * Checks that a dictionary is flat: strings, booleans and finite numbers. Keys with null are left out. The parsers of
 * bodies refuse the name `__proto__`, but it also comes as `metadata.__proto__`, in rows of files and in JSON text.
 */
export function checkMetadata(
  param: string,
  dictionary: Readonly<Record<string, unknown>>,
  { maxKeys, maxKeyLength = Infinity, maxTextLength = Infinity }: MetadataLimits,
): Validated<Metadata> {
  const keys = Object.keys(dictionary);
  const given = keys.filter((key) => dictionary[key] !== null);
  if (given.length > maxKeys) return invalid(param, `must have at most ${maxKeys} keys`);
  let isWellFormed = true;
  for (const key of given) {
    if (key === prototypeName) return invalid(param, prototypeRule);
    const value = dictionary[key];
    if (maxKeyLength < Infinity && (key === '' || key.length > maxKeyLength))
      return invalid(param, `keys must have 1 to ${maxKeyLength} characters`);
    if (typeof value !== 'string' && typeof value !== 'boolean' && !Number.isFinite(value))
      return invalid(`${param}.${key}`.toWellFormed(), 'must be a string, a number or a boolean');
    if (typeof value === 'string' && value.length > maxTextLength)
      return invalid(`${param}.${key}`.toWellFormed(), `must have at most ${maxTextLength} characters`);
    isWellFormed &&= key.isWellFormed() && (typeof value !== 'string' || value.isWellFormed());
  }
  // A copy takes longer than all checks.
  const metadata = (
    given.length === keys.length ? dictionary : Object.fromEntries(given.map((key) => [key, dictionary[key]]))
  ) as Metadata;
  const malformed = isWellFormed ? undefined : malformedTextIn(metadata, param);
  return malformed === undefined ? { ok: true, value: metadata } : invalid(malformed, wellFormedRule);
}

/** Reads metadata given as a dictionary or as its JSON text; null when it is not given. */
export function readMetadata(param: string, value: unknown, limits: MetadataLimits): Validated<Metadata | null> {
  const given = readStructure(param, value);
  if (!given.ok) return given;
  if (given.value === undefined) return { ok: true, value: null };
  return isDictionary(given.value)
    ? checkMetadata(param, given.value, limits)
    : invalid(param, 'must be a dictionary of strings, numbers and booleans');
}

/** SDKs write large and small numbers with an exponent, such as 1.2E7. */
const numberText = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * Returns the values that a text writes: itself, and the boolean or number that it looks like. The SDK for iOS writes
 * booleans as 1 and 0.
 */
function writtenValues(text: string): MetadataValue[] {
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  if (text === '1' || text === '0') return [text, Number(text), text === '1'];
  return numberText.test(text) && Number.isFinite(Number(text)) ? [text, Number(text)] : [text];
}

/**
 * Reads the filter `metadata[key]=value` of a query string, as the values that match. `true` matches the boolean and
 * the text, `12` the number and the text, because forms and columns store text. `1` matches `true` as well. Any other
 * form is refused, because a list without its filter returns everything. The value is undefined when there is no
 * filter.
 */
export function readMetadataFilter(value: unknown): Validated<MetadataFilter | undefined> {
  if (!isGiven(value)) return { ok: true, value: undefined };
  const entries = isDictionary(value) ? Object.entries(value) : [];
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (texts.length === 0 || texts.length < entries.length)
    return invalid('metadata', 'must be given as metadata[key]=value, each key once');
  return { ok: true, value: Object.fromEntries(texts.map(([key, text]) => [key, writtenValues(text)])) };
}

/**
 * Values that arrive as text in forms and query strings: JSON inside a field, coordinates, filters, comma-separated
 * lists.
 */

import { invalid, type Validated } from '../../schemas/errors.js';
import type { Metadata, Position } from '../../schemas/json/common.js';
import { parseJson } from './json-text.js';
import { malformedTextIn, wellFormedRule } from './text.js';

/** A structured field, given as itself or as its JSON text. Other text is passed on as it is. */
export function jsonField(param: string, value: unknown): Validated<unknown> {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return { ok: true, value };
  const parsed = parseJson(value);
  return parsed.ok ? parsed : invalid(param, `must be valid JSON: ${parsed.fault}`);
}

/**
 * A flat dictionary of strings, booleans and finite numbers, or its JSON text; null when absent, null or empty text.
 * A value that is null counts as not given.
 */
export function metadataField(param: string, value: unknown, maxKeys: number): Validated<Metadata | null> {
  if (value === undefined || value === null || value === '') return { ok: true, value: null };
  const parsed = jsonField(param, value);
  if (!parsed.ok) return parsed;
  if (
    typeof parsed.value !== 'object' ||
    parsed.value === null ||
    Array.isArray(parsed.value) ||
    ArrayBuffer.isView(parsed.value)
  ) {
    return invalid(param, 'must be an object of strings, numbers and booleans');
  }
  const entries = Object.entries(parsed.value).filter(([, item]) => item !== null);
  if (entries.length > maxKeys) return invalid(param, `must have at most ${maxKeys} keys`);
  const odd = entries.find(
    ([, item]) => typeof item !== 'string' && typeof item !== 'boolean' && !Number.isFinite(item),
  );
  if (odd) return invalid(`${param}.${odd[0]}`, 'must be a string, a number or a boolean');
  const metadata = Object.fromEntries(entries) as Metadata;
  const malformed = malformedTextIn(metadata, param);
  return malformed === undefined ? { ok: true, value: metadata } : invalid(malformed, wellFormedRule);
}

/** `latitude,longitude` of a query string, as [longitude, latitude]. */
export function coordinatesField(param: string, text: string): Validated<Position> {
  const parts = text.split(',');
  const [latitude, longitude] = parts.map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (parts.length !== 2 || !Number.isFinite(latitude) || !Number.isFinite(longitude)) {
    return invalid(param, 'must be latitude,longitude');
  }
  if (Math.abs(latitude!) > 90) return invalid(param, 'latitude must be -90 to 90');
  if (Math.abs(longitude!) > 180) return invalid(param, 'longitude must be -180 to 180');
  return { ok: true, value: [longitude!, latitude!] };
}

/** `a, b,c` as its parts, without empty ones; undefined when nothing is left. */
export function listField(text: string | undefined): string[] | undefined {
  const parts = (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.length > 0 ? parts : undefined;
}

const numberText = /^-?\d+(\.\d+)?$/;

function inferredType(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return numberText.test(text) ? Number(text) : text;
}

/**
 * The filter `metadata[key]=value` of a query string. The type follows from the text: `true` is a boolean, `12` a
 * number. Anything else under the name, such as the `[object Object]` that a web SDK sends, is no filter.
 */
export function metadataFilter(value: unknown): Metadata | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return entries.length > 0 ? Object.fromEntries(entries.map(([key, text]) => [key, inferredType(text)])) : undefined;
}

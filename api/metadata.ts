/** The flat dictionary that owners attach to geofences and beacons. */

import { type FieldReader, maxNameLength, maxTextLength } from '../http/fields/reader.js';
import { type Metadata, maxMetadataKeys } from '../schemas/json/common.js';

type MetadataValue = Metadata[string];

const isFlat = (value: unknown): value is MetadataValue =>
  typeof value === 'boolean' || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));

function problemOf(key: string, value: unknown): string | undefined {
  if (key === '' || key.length > maxNameLength) return `keys must have 1 to ${maxNameLength} characters`;
  if (!isFlat(value)) return `${JSON.stringify(key)} must be a string, a boolean or a finite number`;
  if (typeof value === 'string' && value.length > maxTextLength) {
    return `${JSON.stringify(key)} must have at most ${maxTextLength} characters`;
  }
  return undefined;
}

/**
 * Metadata in any of its forms; values that came by key in a form or a column stay text, and keys with null are left
 * out. Null when not given.
 */
export function readMetadata(reader: FieldReader): Metadata | null {
  const dictionary = reader.dictionary('metadata');
  if (dictionary === undefined) return null;
  const entries = Object.entries(dictionary).filter(([, value]) => value !== null);
  if (entries.length > maxMetadataKeys) return reader.refuse('metadata', `must have at most ${maxMetadataKeys} keys`);
  for (const [key, value] of entries) {
    const problem = problemOf(key, value);
    if (problem !== undefined) return reader.refuse('metadata', problem);
  }
  return Object.fromEntries(entries) as Metadata;
}

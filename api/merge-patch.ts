/**
 * PATCH by JSON Merge Patch (RFC 7396): a field that is absent stays, and null clears it. Metadata is merged key by
 * key.
 * Operating hours are one value, because a day has several names. Pure.
 */
import type { RawFields } from '../http/fields/reader.js';
import { readStructure } from '../http/fields/structures.js';
import { isDictionary } from '../http/fields/values.js';
import type { ExportedFields } from './stored-fields.js';

/** These fields together define where a geofence is: a patch that names one replaces all. */
const positionFields = ['placeId', 'address', 'coordinates'];

/** What the API description says about every PATCH. */
export const patchDescription =
  'JSON Merge Patch: fields that are left out stay, null clears a field, and metadata is merged key by key. ' +
  'Operating hours are replaced whole. The result is that of a PUT with all fields.';

/** Returns the fields without those that are null. */
const withoutNull = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/**
 * Moves `metadata.color` and `metadata[color]` into the object `metadata`. They stay beside a `metadata` that is given
 * as well, and are then refused as in a PUT.
 */
function nested(patch: RawFields): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(patch)) {
    const [, base, afterDot, inBrackets] = /^(\w+)(?:\.(.+)|\[(.+)\])$/s.exec(name) ?? [];
    const key = afterDot ?? inBrackets;
    if (base === undefined || key === undefined || Object.hasOwn(patch, base)) fields[name] = value;
    else fields[base] = { ...(fields[base] as object | undefined), [key]: value };
  }
  return fields;
}

/** Returns all fields of the record after the patch. */
export function mergedFields<Stored>(stored: ExportedFields<Stored>, record: Stored, patch: RawFields): RawFields {
  const values = stored.values(record);
  const changes = nested(patch);
  const movesIt = positionFields.some((name) => changes[name] != null);
  const current = stored.names.flatMap((name, index) => {
    const value = values[index];
    return value === null || (movesIt && positionFields.includes(name)) ? [] : [[name, value] as const];
  });
  const fields: Record<string, unknown> = Object.fromEntries(current);
  const given = readStructure('metadata', changes.metadata);
  // Text that is not JSON stays, and is refused like that of a PUT.
  const metadata = given.ok ? given.value : undefined;
  const isMerged = isDictionary(metadata) && isDictionary(fields.metadata ?? {});
  return withoutNull({
    ...fields,
    ...changes,
    ...(isMerged && { metadata: withoutNull({ ...(fields.metadata as object | undefined), ...metadata }) }),
  });
}

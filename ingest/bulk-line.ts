/**
 * Locations of a bulk upload: the rules of track-request.ts, but accuracy is always required and the address is the
 * line's own `ip`.
 */
import { parseJson } from '../http/fields/json-text.js';
import { readNumber, readText } from '../http/fields/values.js';
import { normalizeAddress } from '../http/location/address.js';
import { type Receipt, readLocation, type TrackFields } from '../http/location/request.js';
import type { NewRecord } from '../pipeline/ports.js';
import { deviceKey } from '../pipeline/records/device-key.js';
import type { Slab } from '../pipeline/records/slab.js';
import { type FieldProblem, invalid, type Validated } from '../schemas/errors.js';
import type { Location } from '../schemas/records.js';
import { encodeLocation } from './location-encoder.js';

export interface BulkFields extends TrackFields {
  readonly ip?: unknown;
}

const noObject: { ok: false; problem: FieldProblem } = invalid('line', 'must be a JSON object');

/** The location that one parsed line tells of. `receipt` may be shared by many lines. */
export function readBulkLocation(value: unknown, receipt: Receipt): Validated<Location> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return noObject;
  const fields = value as BulkFields;
  const result = readLocation(fields, receipt);
  if (!result.ok) return result;
  if (readNumber(fields.accuracy) === undefined) return invalid('accuracy', 'is required');
  if (fields.ip === undefined || fields.ip === null) return result;
  const ip = normalizeAddress(readText(fields.ip) ?? '');
  if (ip === undefined) return invalid('ip', 'must be an IP address');
  result.value.ip = ip;
  return result;
}

/** One line of NDJSON, parsed and read. */
export function readBulkLine(line: string, receipt: Receipt): Validated<Location> {
  const parsed = parseJson(line);
  return parsed.ok
    ? readBulkLocation(parsed.value, receipt)
    : invalid('line', `must be a JSON object: ${parsed.fault}`);
}

/** The location as the record that is appended. */
export const recordOf = (location: Location, slab: Slab): NewRecord => ({
  key: deviceKey(location),
  value: slab.encode(encodeLocation, location),
});

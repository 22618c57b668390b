/**
 * Reads the locations of a bulk upload by the rules of http/location. Two rules differ: accuracy is always required,
 * and the IP address is field `ip` of the line.
 */
import { parseJson } from '../../http/fields/json-text.js';
import { isDictionary, isGiven } from '../../http/fields/values.js';
import { readAddress } from '../../http/location/address.js';
import { type Receipt, readLocation, type TrackFields } from '../../http/location/request.js';
import { type FieldProblem, invalid, type Validated } from '../../schemas/errors.js';
import type { Location } from '../../schemas/records.js';

interface BulkFields extends TrackFields {
  readonly ip?: unknown;
}

const noObject: { ok: false; problem: FieldProblem } = invalid('line', 'must be a JSON object');

/** Reads the location of one parsed line. Many lines may share `receipt`. */
export function readBulkLocation(value: unknown, receipt: Receipt): Validated<Location> {
  if (!isDictionary(value)) return noObject;
  const fields: BulkFields = value;
  const result = readLocation(fields, receipt);
  if (!result.ok) return result;
  if (!isGiven(fields.accuracy)) return invalid('accuracy', 'is required');
  const ip = readAddress(fields.ip);
  if (!ip.ok) return ip;
  if (ip.value !== null) result.value.ip = ip.value;
  return result;
}

/** Parses and reads one line of NDJSON. */
export function readBulkLine(line: string, receipt: Receipt): Validated<Location> {
  const parsed = parseJson(line);
  return parsed.ok
    ? readBulkLocation(parsed.value, receipt)
    : invalid('line', `must be a JSON object: ${parsed.fault}`);
}

/** From a record of topic `locations` to a location that can be evaluated, or the reason why not. */
import { type Codec, frameBytes } from '../../../schemas/codecs.js';
import type { Location } from '../../../schemas/records.js';
import type { LogRecord } from '../../ports.js';

/** Why a record became a dead letter. Stable: operators filter by it. */
export type DeadLetterReason = 'empty_record' | 'undecodable' | 'invalid_location' | 'unknown_project';

/** A record that cannot be evaluated, as it came. */
export interface BadRecord {
  readonly record: LogRecord;
  readonly reason: DeadLetterReason;
  readonly message: string;
}

export type Decoded = { readonly location: Location } | BadRecord;

const within = (value: number, limit: number): boolean => value >= -limit && value <= limit;

/** Ingest checks more; this is what evaluation relies on, whoever wrote the record. NaN fails every comparison. */
function problemOf(location: Location): string | undefined {
  if (!within(location.latitude, 90)) return `latitude ${location.latitude}`;
  if (!within(location.longitude, 180)) return `longitude ${location.longitude}`;
  if (!(location.accuracy_m >= 0 && location.accuracy_m < Number.POSITIVE_INFINITY)) return `accuracy_m ${location.accuracy_m}`;
  return undefined;
}

/** Decodes and checks one record. Never throws: what is wrong with a record is a value. */
export function decodeLocation(codec: Codec<Location>, record: LogRecord): Decoded {
  if (record.value === null) return { record, reason: 'empty_record', message: 'a location cannot be deleted' };
  let location: Location;
  try {
    location = codec.decode(record.value);
  } catch (error) {
    return { record, reason: 'undecodable', message: error instanceof Error ? error.message : String(error) };
  }
  const problem = problemOf(location);
  return problem === undefined ? { location } : { record, reason: 'invalid_location', message: problem };
}

/** True when the frame's body was written with the codec's own schema, so that its bytes may be copied as they are. */
export const hasSchemaOf = (codec: Codec<Location>, frame: Buffer): boolean =>
  frame.length >= frameBytes && frame.readUInt32BE(1) === codec.schemaId;

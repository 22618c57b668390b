/** Decodes the records of a topic. A record that cannot be decoded is a value, not an exception. */
import type { Codec } from '../../schemas/codecs.js';
import type { LogRecord } from '../ports.js';

/** Why a record became a dead letter. Stable: operators filter by it. */
export type DeadLetterReason =
  | 'empty_record'
  | 'undecodable'
  | 'invalid_location'
  | 'unknown_project'
  | 'oversized_event';

/** A record that a stage cannot process. */
export interface BadRecord {
  readonly record: LogRecord;
  readonly reason: DeadLetterReason;
  readonly message: string;
}

/**
 * Tells a bad record from a decoded one. Some decoded records have a `reason`, and what is made of one may keep its
 * `record`; only a bad record has both.
 */
export const isBadRecord = (decoded: object): decoded is BadRecord => 'record' in decoded && 'reason' in decoded;

/** Returns the value of a record, or why it has none. Never throws. */
export function decodeRecord<T>(codec: Pick<Codec<T>, 'decode'>, record: LogRecord): T | BadRecord {
  if (record.value === null) return { record, reason: 'empty_record', message: 'the topic has no tombstones' };
  try {
    return codec.decode(record.value);
  } catch (error) {
    return { record, reason: 'undecodable', message: error instanceof Error ? error.message : String(error) };
  }
}

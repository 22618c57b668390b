/** Records that a stage cannot work on, on their way to topic `dead-letters`: as they came, with the reason and the origin. */
import type { Codec } from '../../schemas/codecs.js';
import type { DeadLetter } from '../../schemas/records.js';
import type { LogRecord, Topic } from '../ports.js';

/** Why a record became a dead letter. Stable: operators filter by it. */
export type DeadLetterReason = 'empty_record' | 'undecodable' | 'invalid_location' | 'unknown_project';

export interface BadRecord {
  readonly record: LogRecord;
  readonly reason: DeadLetterReason;
  readonly message: string;
}

export const deadLetterOf = (topic: Topic, { record, reason, message }: BadRecord, failedAt: number): DeadLetter => ({
  topic,
  partition: record.partition,
  offset: record.offset,
  key: Buffer.from(record.key),
  value: record.value,
  reason,
  message,
  failedAt,
});

/** What is in the record, or why nothing is. Never throws: what is wrong with a record is a value. */
export function decodeRecord<T>(codec: Codec<T>, record: LogRecord): T | BadRecord {
  if (record.value === null) return { record, reason: 'empty_record', message: 'the topic has no tombstones' };
  try {
    return codec.decode(record.value);
  } catch (error) {
    return { record, reason: 'undecodable', message: error instanceof Error ? error.message : String(error) };
  }
}

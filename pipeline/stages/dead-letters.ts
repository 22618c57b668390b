/**
 * Records that a stage cannot work on, on their way to topic `dead-letters`: as they came, with the reason and the
 * origin.
 */
import type { Codec } from '../../schemas/codecs.js';
import type { DeadLetter } from '../../schemas/records.js';
import { type Log, type LogRecord, type Topic, topics } from '../ports.js';
import type { Metrics } from './metrics.js';

/** Why a record became a dead letter. Stable: operators filter by it. */
export type DeadLetterReason =
  | 'empty_record'
  | 'undecodable'
  | 'invalid_location'
  | 'unknown_project'
  | 'oversized_event';

export interface BadRecord {
  readonly record: LogRecord;
  readonly reason: DeadLetterReason;
  readonly message: string;
}

/** Some records have a `reason`, and what is made of one may keep the `record`: nothing else has both. */
export const isBadRecord = (decoded: object): decoded is BadRecord => 'record' in decoded && 'reason' in decoded;

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

export interface BurialParts {
  readonly log: Pick<Log, 'append'>;
  /** Where they came from. */
  readonly topic: Topic;
  readonly codec: Codec<DeadLetter>;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly metrics: Metrics;
}

/** Appends them to topic `dead-letters`; resolves when they are durable. */
export async function bury(
  { log, topic, codec, clock, metrics }: BurialParts,
  bad: readonly BadRecord[],
): Promise<void> {
  const failedAt = clock();
  await log.append(
    topics.deadLetters,
    bad.map((one) => ({ key: one.record.key, value: codec.encode(deadLetterOf(topic, one, failedAt)) })),
  );
  for (const { reason } of bad) metrics.add('dead_letters_total', 1, reason);
}

/** Appends bad records to topic `dead-letters`, unchanged, with reason and origin. */
import type { Codec } from '../../schemas/codecs.js';
import type { DeadLetter } from '../../schemas/records.js';
import { type Log, type Topic, topics } from '../ports.js';
import type { BadRecord } from '../records/decode.js';
import type { Metrics } from './metrics.js';

/**
 * Returns the dead letter of a record. A record that is read again has the same dead letter again: its time is that of
 * the record.
 */
export const deadLetterOf = (topic: Topic, { record, reason, message }: BadRecord): DeadLetter => ({
  topic,
  partition: record.partition,
  offset: record.offset,
  key: Buffer.from(record.key),
  value: record.value,
  reason,
  message,
  failedAt: record.timestamp,
});

interface DeadLetterParts {
  readonly log: Pick<Log, 'append'>;
  /** Topic of the bad records. */
  readonly topic: Topic;
  readonly codec: Codec<DeadLetter>;
  readonly metrics: Metrics;
}

/** Appends the records as dead letters; resolves when they are durable. */
export async function appendDeadLetters(
  { log, topic, codec, metrics }: DeadLetterParts,
  bad: readonly BadRecord[],
): Promise<void> {
  await log.append(
    topics.deadLetters,
    bad.map((one) => ({ key: one.record.key, value: codec.encode(deadLetterOf(topic, one)) })),
  );
  for (const { reason } of bad) metrics.add('dead_letters_total', 1, reason);
}

/** Appends bad records to topic `dead-letters`, unchanged, with reason and origin. */
import type { Codec } from '../../schemas/codecs.js';
import type { DeadLetter } from '../../schemas/records.js';
import { type Log, type Topic, topics } from '../ports.js';
import type { BadRecord } from '../records/decode.js';
import type { Metrics } from './metrics.js';

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

export interface DeadLetterParts {
  readonly log: Pick<Log, 'append'>;
  /** Topic of the bad records. */
  readonly topic: Topic;
  readonly codec: Codec<DeadLetter>;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly metrics: Metrics;
}

/** Appends the records as dead letters; resolves when they are durable. */
export async function appendDeadLetters(
  { log, topic, codec, clock, metrics }: DeadLetterParts,
  bad: readonly BadRecord[],
): Promise<void> {
  const failedAt = clock();
  await log.append(
    topics.deadLetters,
    bad.map((one) => ({ key: one.record.key, value: codec.encode(deadLetterOf(topic, one, failedAt)) })),
  );
  for (const { reason } of bad) metrics.add('dead_letters_total', 1, reason);
}

/** Records between Kafka's form and ours. Flows in: what kafkajs decoded of a fetch. Flows out: log records with inner schema ids. */
import type { KafkaMessage } from 'kafkajs';
import type { LogRecord, Topic } from '../../../pipeline/ports.js';
import type { WireSchemas } from '../registry/wire-schemas.js';

export type ReadingWire = Pick<WireSchemas, 'learn' | 'fromWire'>;

/** Each message once: its value is rewritten in place. Values are views into what was fetched. Rejects when the registry stays away. */
export async function recordsOf(
  wire: ReadingWire,
  topic: Topic,
  partition: number,
  messages: readonly KafkaMessage[],
): Promise<LogRecord[]> {
  await wire.learn(
    topic,
    messages.map(({ value }) => value),
  );
  return messages.map(({ key, value, offset, timestamp }) => ({
    // Another client may write records without keys.
    key: key === null ? '' : key.toString(),
    value: value === null ? null : wire.fromWire(topic, value),
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
  }));
}

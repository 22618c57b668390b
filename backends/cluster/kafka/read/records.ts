/**
 * Records between Kafka's form and ours. Flows in: what kafkajs decoded of a fetch. Flows out: log records with inner
 * schema ids.
 */
import type { KafkaMessage } from 'kafkajs';
import type { LogRecord, RecordHeaders, Topic } from '../../../../pipeline/ports.js';
import type { WireSchemas } from '../../registry/wire-schemas.js';
import { leaderEpochOf } from '../connection/kafkajs-internals.js';

export type ReadingWire = Pick<WireSchemas, 'learn' | 'fromWire'>;

/**
 * Each message once: its value is rewritten in place. Values are views into what was fetched. Rejects when the registry
 * stays away.
 */
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
  return messages.map((message) => toRecord(wire, topic, partition, message));
}

function toRecord(wire: ReadingWire, topic: Topic, partition: number, message: KafkaMessage): LogRecord {
  const { key, value, headers, offset, timestamp } = message;
  const leaderEpoch = leaderEpochOf(message);
  return {
    // Another client may write records without keys.
    key: key === null ? '' : key.toString(),
    value: value === null ? null : wire.fromWire(topic, value),
    ...textHeaders(headers),
    partition,
    offset: Number(offset),
    timestamp: Number(timestamp),
    ...(leaderEpoch !== undefined && { leaderEpoch }),
  };
}

const noHeaders = {};

/** Of a header that is given several times, which only other clients do, the last counts. */
function textHeaders(headers: KafkaMessage['headers']): { headers?: RecordHeaders } {
  for (const _name in headers) {
    const entries = Object.entries(headers).map(([name, value]) => [name, `${[value].flat().at(-1) ?? ''}`]);
    return { headers: Object.fromEntries(entries) };
  }
  return noHeaders;
}

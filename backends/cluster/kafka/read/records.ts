/** Converts the records that kafkajs decoded into log records with internal schema ids. */
import type { KafkaMessage } from 'kafkajs';
import type { LogRecord, RecordHeaders, Topic } from '../../../../pipeline/ports.js';
import type { WireSchemas } from '../../registry/wire-schemas.js';
import { leaderEpochOf } from '../connection/kafkajs-internals.js';

/** The part of {@link WireSchemas} that reading uses. */
export type ReadingWire = Pick<WireSchemas, 'learn' | 'fromWire'>;

/**
 * Converts messages. It rewrites values in place, so each message may be converted once. Values are views into the
 * fetched buffer. Rejects when the registry does not answer for long, unless `waits` returns true.
 */
export async function recordsOf(
  wire: ReadingWire,
  topic: Topic,
  partition: number,
  messages: readonly KafkaMessage[],
  waits: () => boolean,
): Promise<LogRecord[]> {
  await wire.learn(
    topic,
    messages.map(({ value }) => value),
    waits,
  );
  return messages.map((message) => toRecord(wire, topic, partition, message));
}

function toRecord(wire: ReadingWire, topic: Topic, partition: number, message: KafkaMessage): LogRecord {
  const { key, value, headers, offset, timestamp } = message;
  const leaderEpoch = leaderEpochOf(message);
  return {
    // Other clients may write records without keys.
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

/** Returns headers as text. The last value of a repeated header counts; only other clients repeat headers. */
function textHeaders(headers: KafkaMessage['headers']): { headers?: RecordHeaders } {
  for (const _name in headers) {
    const entries = Object.entries(headers).map(([name, value]) => [name, `${[value].flat().at(-1) ?? ''}`]);
    return { headers: Object.fromEntries(entries) };
  }
  return noHeaders;
}

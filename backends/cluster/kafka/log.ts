/**
 * The log port on Kafka.
 *
 * Records carry this process's internal schema ids above this port, and the registry's ids on the wire, so that any
 * Kafka client can read them. `produce/producer.ts` appends, `read/reader.ts` reads at any offset, and
 * `consume/group-consumer.ts` and `consume/standalone-consumer.ts` consume.
 */
import { PortError } from '../../../pipeline/errors.js';
import type { ConsumeOptions, Log, NewRecord, Subscription, Topic } from '../../../pipeline/ports.js';
import { outageLimitMs as defaultOutageLimitMs } from '../../../pipeline/retrying.js';
import type { WireSchemas } from '../registry/wire-schemas.js';
import { Brokers } from './connection/brokers.js';
import type { KafkaConnection } from './connection/connection.js';
import { startGroupConsumer } from './consume/group-consumer.js';
import { startStandaloneConsumer } from './consume/standalone-consumer.js';
import { partitionOfKey } from './produce/partitioner.js';
import { KafkaProducer, type ProducerOptions } from './produce/producer.js';
import { createPublishMissing, unchangedWire } from './produce/publish-missing.js';
import { createReader } from './read/reader.js';

interface KafkaLogParts extends ProducerOptions {
  readonly connection: KafkaConnection;
  readonly wire: WireSchemas;
  readonly sessionTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly onProblem: (message: string) => void;
}

/**
 * A log over Kafka, with two ways to append: `append` for requests, which are refused in time, and `publish` for
 * stages, which wait.
 */
export interface KafkaLog extends Log {
  /** Upper bound of the bytes accepted by `append` and not durable yet. */
  readonly inFlightBytes: number;
  /**
   * Resolves when the records are durable. Rejects with PortError `overloaded` when too many bytes are in flight, and
   * `unavailable` after the time limit and after close. Rewrites the schema ids of the values in place.
   */
  append(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  /**
   * Like `append`, for records in wire form and without limits. Retries for about a minute during an outage, and for as
   * long as replicas of the partition are away, until a subscription closes.
   */
  publish(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  /** Like `publish`, for records that another process may have published: those that the topic has are left out. */
  publishMissing(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  /** Closes the subscriptions and waits for appends in flight. Leaves the connection open. */
  close(): Promise<void>;
}

/** Creates the log on a connection that the caller opens and closes. The caller closes the log before. */
export function createKafkaLog(parts: KafkaLogParts): KafkaLog {
  const { connection, wire, onProblem } = parts;
  const { outageLimitMs = defaultOutageLimitMs } = parts;
  const { patience } = connection;
  const waitsForReplicas = (): boolean => !patience.isOver;
  const producer = new KafkaProducer(connection, { ...parts, waitsForReplicas });
  const reader = createReader(connection, wire, { outageLimitMs });
  const brokers = new Brokers(connection);
  const wireReader = createReader(connection, unchangedWire, { outageLimitMs, waitsForReplicas, brokers });
  const consumersReader = createReader(connection, wire, { outageLimitMs, waitsForReplicas, brokers });
  const subscriptions = new Set<Subscription>();
  const publishMissing = createPublishMissing({
    reader: wireReader,
    partitions: connection.partitions,
    publish: (topic, records) => producer.publish(topic, records),
  });
  let closed = false;

  function refuseWhenClosed(): void {
    if (closed) throw new PortError('unavailable', 'the log is closed');
  }

  function start(options: ConsumeOptions): Subscription {
    const { group } = options;
    if (group === null) return startStandaloneConsumer({ ...parts, options, log: consumersReader });
    const { sessionTimeoutMs, stallTimeoutMs } = parts;
    return startGroupConsumer({
      connection,
      log: consumersReader,
      wire,
      options: { ...options, group },
      sessionTimeoutMs,
      stallTimeoutMs,
      ...(parts.outageLimitMs !== undefined && { outageLimitMs: parts.outageLimitMs }),
      onProblem,
    });
  }

  return {
    get inFlightBytes() {
      return producer.inFlightBytes;
    },
    partitions: connection.partitions,
    partitionOf: (topic, key) => partitionOfKey(key, connection.partitions(topic)),
    async append(topic, records) {
      refuseWhenClosed();
      for (const { value } of records) if (value !== null) wire.toWire(topic, value);
      await producer.append(topic, records);
    },
    async publish(topic, records) {
      refuseWhenClosed();
      await producer.publish(topic, records);
    },
    async publishMissing(topic, records) {
      refuseWhenClosed();
      await publishMissing(topic, records);
    },
    consume(options) {
      refuseWhenClosed();
      const started = start(options);
      const subscription: Subscription = {
        done: started.done,
        async close() {
          patience.end();
          await started.close();
          subscriptions.delete(subscription);
        },
      };
      subscriptions.add(subscription);
      return subscription;
    },
    read: reader.read,
    bounds: reader.bounds,
    end: reader.end,
    async close() {
      closed = true;
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      await producer.close();
      await Promise.all([reader.close(), brokers.close()]);
    },
  };
}

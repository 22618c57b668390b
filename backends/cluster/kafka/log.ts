/**
 * The log on Kafka.
 *
 * Flows in: records with the fixed schema ids of this process. Flows out: records in the wire form that any Kafka
 * client reads, durable on all replicas in sync; and back again. What is told apart here is done in the files beside
 * this one: appending, reading, following, and consuming as one of a group.
 */

import { PortError } from '../../../pipeline/errors.js';
import type { ConsumeOptions, Log, NewRecord, Subscription, Topic } from '../../../pipeline/ports.js';
import type { WireSchemas } from '../registry/wire-schemas.js';
import type { KafkaConnection } from './connection/connection.js';
import { startGroupConsumer } from './consume/group-consumer.js';
import { Appender, type AppenderOptions } from './produce/appender.js';
import { partitionOfKey } from './produce/partitioner.js';
import { asOnTheWire, createPublishRest } from './produce/publish-rest.js';
import { startFollower } from './read/follower.js';
import { createReader } from './read/reader.js';

export interface KafkaLogParts extends AppenderOptions {
  readonly connection: KafkaConnection;
  readonly wire: WireSchemas;
  readonly sessionTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly onProblem: (message: string) => void;
}

export interface KafkaLog extends Log {
  /** Key and value bytes accepted by `append` and not durable yet, at most. */
  readonly inFlightBytes: number;
  /**
   * Rejects with PortError `overloaded` when too much is in flight, `unavailable` when it takes too long and after
   * close. Rewrites the values.
   */
  append(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  /** As `append`, of records that are in wire form, and without refusing: waits through an outage of about a minute. */
  publish(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  /**
   * As `publish`, of records that another process may have published before it ended: those that the topic has already
   * are left out.
   */
  publishRest(topic: Topic, records: readonly NewRecord[]): Promise<void>;
  /** Ends the subscriptions and waits for appends in flight. Leaves the connection open. */
  close(): Promise<void>;
}

export function createKafkaLog(parts: KafkaLogParts): KafkaLog {
  const { connection, wire, onProblem } = parts;
  const appender = new Appender(connection, parts);
  const reader = createReader(connection, wire, parts.outageLimitMs);
  const wireReader = createReader(connection, asOnTheWire, parts.outageLimitMs);
  const subscriptions = new Set<Subscription>();
  const publishRest = createPublishRest({
    reader: wireReader,
    partitions: connection.partitions,
    publish: (topic, records) => appender.publish(topic, records),
  });
  let closed = false;

  function refuseWhenClosed(): void {
    if (closed) throw new PortError('unavailable', 'the log is closed');
  }

  function start(options: ConsumeOptions): Subscription {
    const { group } = options;
    if (group === null) return startFollower({ ...parts, options, log: reader });
    const { sessionTimeoutMs, stallTimeoutMs } = parts;
    return startGroupConsumer({
      connection,
      log: reader,
      wire,
      options: { ...options, group },
      sessionTimeoutMs,
      stallTimeoutMs,
      onProblem,
    });
  }

  return {
    get inFlightBytes() {
      return appender.inFlightBytes;
    },
    partitions: connection.partitions,
    partitionOf: (topic, key) => partitionOfKey(key, connection.partitions(topic)),
    async append(topic, records) {
      refuseWhenClosed();
      for (const { value } of records) if (value !== null) wire.toWire(topic, value);
      await appender.append(topic, records);
    },
    async publish(topic, records) {
      refuseWhenClosed();
      await appender.publish(topic, records);
    },
    async publishRest(topic, records) {
      refuseWhenClosed();
      await publishRest(topic, records);
    },
    consume(options) {
      refuseWhenClosed();
      const started = start(options);
      const subscription: Subscription = {
        done: started.done,
        async close() {
          await started.close();
          subscriptions.delete(subscription);
        },
      };
      subscriptions.add(subscription);
      return subscription;
    },
    read: reader.read,
    bounds: reader.bounds,
    async close() {
      closed = true;
      await Promise.all([...subscriptions].map((subscription) => subscription.close()));
      await appender.close();
      await Promise.all([reader.close(), wireReader.close()]);
    },
  };
}

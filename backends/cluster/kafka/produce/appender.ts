/**
 * Appends to Kafka: idempotent, acknowledged by all replicas that are in sync, grouped while others are under way.
 *
 * Flows in: records in wire form. Flows out: that they are durable. What `append` has under way is bounded, and so is
 * how long it lets its caller wait; `publish` is for who can do nothing else but wait. Either way an outage is sat out
 * for about a minute.
 */

import { PortError } from '../../../../pipeline/errors.js';
import type { NewRecord, Topic } from '../../../../pipeline/ports.js';
import { withinMs } from '../../../../pipeline/time-limit.js';
import { outageLimitMs } from '../../retrying.js';
import { Brokers } from '../connection/brokers.js';
import type { KafkaConnection } from '../connection/connection.js';
import { exchange } from '../connection/kafkajs-internals.js';
import { Numberings } from './numbering.js';
import { Lane } from './partition-queue.js';
import { type AddressedBatch, produceRequest } from './produce-request.js';
import { maxBytesOf } from './record-batch.js';
import { Courier } from './request-batcher.js';
import { splitByPartition } from './splitting.js';

const defaultMaxInFlightBytes = 64 * 2 ** 20;
const defaultAppendLimitMs = 10_000;
const retryAfterS = 5;

/** Past which a request takes no further batch along: encoding it must not hold up the event loop. */
const fullRequestBytes = 2 * 2 ** 20;
/** A broker waits so long for its replicas. Shorter than our wait for the broker. */
const replicationTimeoutMs = 10_000;
/** Kafka's code for errors that have none. */
const unknownError = -1;

export interface AppenderOptions {
  /** Bytes that `append` may have under way before it refuses more as `overloaded`. Default 64 MiB. */
  readonly maxInFlightBytes?: number;
  /** After which `append` answers `unavailable`. The records may be written all the same. Default 10 s. */
  readonly appendLimitMs?: number;
  /** For how long an outage is sat out; then what couldn't be written or read is given up. Default a minute. */
  readonly outageLimitMs?: number;
}

export class Appender {
  /** Of what `append` has under way, an estimate from above. */
  inFlightBytes = 0;
  private readonly brokers: Brokers;
  private readonly numberings = new Numberings();
  private readonly couriers = new Map<number, Courier<AddressedBatch, number>>();
  private readonly lanes = new Map<string, Lane>();

  constructor(
    private readonly connection: KafkaConnection,
    private readonly options: AppenderOptions = {},
  ) {
    this.brokers = new Brokers(connection);
  }

  /** Rejects with PortError `overloaded` or `unavailable`. */
  async append(topic: Topic, records: readonly NewRecord[]): Promise<void> {
    const { maxInFlightBytes = defaultMaxInFlightBytes, appendLimitMs = defaultAppendLimitMs } = this.options;
    const bytes = records.reduce((sum, record) => sum + maxBytesOf(record), 0);
    if (this.inFlightBytes > 0 && this.inFlightBytes + bytes > maxInFlightBytes) {
      throw new PortError('overloaded', 'too many bytes are in flight to Kafka', { retryAfterS: 1 });
    }
    this.inFlightBytes += bytes;
    const durable = this.publish(topic, records).finally(() => {
      this.inFlightBytes -= bytes;
    });
    await withinMs(appendLimitMs, durable, unavailable);
  }

  /** Rejects when the records couldn't be written for about a minute, or can't be. */
  async publish(topic: Topic, records: readonly NewRecord[]): Promise<void> {
    const chunks = splitByPartition(records, topic, this.connection.partitions(topic));
    const settled = chunks.map(
      ({ partition, ...chunk }) =>
        new Promise<Error | undefined>((settle) => this.lane(topic, partition).add({ ...chunk, settle })),
    );
    const failure = (await Promise.all(settled)).find((error) => error !== undefined);
    if (failure) throw failure;
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await Promise.all([...this.lanes.values()].map((lane) => lane.drained()));
    await this.brokers.close();
  }

  private lane(topic: Topic, partition: number): Lane {
    const name = `${topic}/${partition}`;
    const lane =
      this.lanes.get(name) ??
      new Lane({
        brokers: this.brokers,
        numberings: this.numberings,
        courierTo: (node) => this.courierTo(node),
        topic: this.connection.topicName(topic),
        partition,
        limitMs: this.options.outageLimitMs ?? outageLimitMs,
      });
    this.lanes.set(name, lane);
    return lane;
  }

  private courierTo(node: number): Courier<AddressedBatch, number> {
    const courier =
      this.couriers.get(node) ??
      new Courier({
        isFull: (batches) => batches.reduce((sum, { bytes }) => sum + bytes.length, 0) >= fullRequestBytes,
        deliver: (batches) => this.produce(node, batches),
      });
    this.couriers.set(node, courier);
    return courier;
  }

  private async produce(node: number, batches: readonly AddressedBatch[]): Promise<number[]> {
    const request = produceRequest(batches, replicationTimeoutMs);
    const answer = await this.brokers.ask(node, (broker) => exchange(broker, request));
    return batches.map(({ topic, partition }) => answer.errorCode(topic, partition) ?? unknownError);
  }
}

const unavailable = (): PortError => new PortError('unavailable', 'Kafka does not accept records', { retryAfterS });

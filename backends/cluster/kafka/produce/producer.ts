/**
 * The Kafka producer: idempotent, acknowledged by all in-sync replicas.
 *
 * An append passes four steps. `split-records.ts` splits it by partition, and `partition-queue.ts` keeps the order of
 * each partition and one batch in flight. `record-batch.ts` encodes the batch with a sequence number from
 * `producer-ids.ts`. `connection/request-batcher.ts` groups the batches for one broker into a Produce request
 * (`produce-request.ts`). kafkajs provides connections and metadata only: `docs/decisions/022-kafka-client.md` gives
 * the reasons.
 *
 * `append` bounds the bytes in flight and the time that its caller waits. `publish` is for callers that can only wait.
 * Both retry for about a minute during an outage. `publish` also waits for as long as the partition has no
 * leader, or too few replicas: no other process could do better.
 */
import { PortError } from '../../../../pipeline/errors.js';
import type { NewRecord, Topic } from '../../../../pipeline/ports.js';
import { outageLimitMs } from '../../../../pipeline/retrying.js';
import { withinMs } from '../../../../pipeline/time-limit.js';
import { Brokers } from '../connection/brokers.js';
import type { KafkaConnection } from '../connection/connection.js';
import { exchange } from '../connection/kafkajs-internals.js';
import { RequestBatcher } from '../connection/request-batcher.js';
import { GivenUp, PartitionQueue } from './partition-queue.js';
import { type AddressedBatch, produceRequest } from './produce-request.js';
import { ProducerIds } from './producer-ids.js';
import { maxBytesOf } from './record-batch.js';
import { splitByPartition } from './split-records.js';

const defaultMaxInFlightBytes = 64 * 2 ** 20;
const defaultAppendLimitMs = 10_000;
const retryAfterS = 5;

/** A request of this size takes no more batches: its encoding must not block the event loop. */
const fullRequestBytes = 2 * 2 ** 20;
/** How long a broker waits for its replicas. Shorter than our timeout for the broker. */
const replicationTimeoutMs = 10_000;
/** Kafka's code UNKNOWN_SERVER_ERROR. */
const unknownError = -1;

/** Bounds of the producer. */
export interface ProducerOptions {
  /** Bytes that `append` may have in flight before it rejects more as `overloaded`. Default 64 MiB. */
  readonly maxInFlightBytes?: number;
  /** After which `append` rejects as `unavailable`. The records may still be written. Default 10 s. */
  readonly appendLimitMs?: number;
  /** How long requests are retried during an outage. Default a minute. */
  readonly outageLimitMs?: number;
  /** Whether `publish` waits for as long as replicas of a partition are away. Default: it does not. */
  readonly waitsForReplicas?: () => boolean;
}

/** The producer of one process, for all topics. */
export class KafkaProducer {
  /** Upper bound of the bytes that `append` has in flight. */
  inFlightBytes = 0;
  private readonly brokers: Brokers;
  private readonly producerIds = new ProducerIds();
  private readonly batchers = new Map<number, RequestBatcher<AddressedBatch, number>>();
  private readonly queues = new Map<string, PartitionQueue>();

  constructor(
    private readonly connection: KafkaConnection,
    private readonly options: ProducerOptions = {},
  ) {
    this.brokers = new Brokers(connection);
  }

  /** Resolves when the records are durable. Rejects with PortError `overloaded` or `unavailable`. */
  async append(topic: Topic, records: readonly NewRecord[]): Promise<void> {
    const { maxInFlightBytes = defaultMaxInFlightBytes, appendLimitMs = defaultAppendLimitMs } = this.options;
    const bytes = records.reduce((sum, record) => sum + maxBytesOf(record), 0);
    if (this.inFlightBytes > 0 && this.inFlightBytes + bytes > maxInFlightBytes) {
      throw new PortError('overloaded', 'too many bytes are in flight to Kafka', { retryAfterS: 1 });
    }
    this.inFlightBytes += bytes;
    const durable = this.write(topic, records, false).finally(() => {
      this.inFlightBytes -= bytes;
    });
    try {
      await withinMs(appendLimitMs, durable, unavailable);
    } catch (error) {
      // Given up with records that had waited for longer.
      throw error instanceof GivenUp ? unavailable() : error;
    }
  }

  /** Resolves when the records are durable. Rejects when they are refused, or after about a minute of failures. */
  publish(topic: Topic, records: readonly NewRecord[]): Promise<void> {
    return this.write(topic, records, true);
  }

  private async write(topic: Topic, records: readonly NewRecord[], isPatient: boolean): Promise<void> {
    const parts = splitByPartition(records, topic, this.connection.partitions(topic));
    const settled = parts.map(
      ({ partition, ...part }) =>
        new Promise<Error | undefined>((settle) => this.queueOf(topic, partition).add({ ...part, isPatient, settle })),
    );
    const failure = (await Promise.all(settled)).find((error) => error !== undefined);
    if (failure) throw failure;
  }

  /** Waits for appends in flight. */
  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.drained()));
    await this.brokers.close();
  }

  private queueOf(topic: Topic, partition: number): PartitionQueue {
    const name = `${topic}/${partition}`;
    const queue =
      this.queues.get(name) ??
      new PartitionQueue({
        brokers: this.brokers,
        producerIds: this.producerIds,
        batcherOf: (node) => this.batcherOf(node),
        topic: this.connection.topicName(topic),
        partition,
        limitMs: this.options.outageLimitMs ?? outageLimitMs,
        waitsForReplicas: this.options.waitsForReplicas ?? (() => false),
      });
    this.queues.set(name, queue);
    return queue;
  }

  private batcherOf(node: number): RequestBatcher<AddressedBatch, number> {
    const batcher =
      this.batchers.get(node) ??
      new RequestBatcher({
        isFull: (batches) => batches.reduce((sum, { bytes }) => sum + bytes.length, 0) >= fullRequestBytes,
        send: (batches) => this.produce(node, batches),
      });
    this.batchers.set(node, batcher);
    return batcher;
  }

  private async produce(node: number, batches: readonly AddressedBatch[]): Promise<number[]> {
    const request = produceRequest(batches, replicationTimeoutMs);
    const answer = await this.brokers.request(node, (broker) => exchange(broker, request));
    return batches.map(({ topic, partition }) => answer.errorCode(topic, partition) ?? unknownError);
  }
}

const unavailable = (): PortError => new PortError('unavailable', 'Kafka does not accept records', { retryAfterS });

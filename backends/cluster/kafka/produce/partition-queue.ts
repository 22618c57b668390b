/**
 * The queue of appends to one partition. One batch is in flight at a time, until it is written or given up.
 *
 * The queue sends a batch again, byte for byte, until the broker has written it, even where a broker that died may have
 * written it already. The sequence number lets the new leader drop the duplicate.
 */
import type { NewRecord } from '../../../../pipeline/ports.js';
import { type RetryOptions, retried } from '../../../../pipeline/retrying.js';
import { ServiceError } from '../../service-error.js';
import { type Brokers, ReplicasAway } from '../connection/brokers.js';
import { newProducerId } from '../connection/kafkajs-internals.js';
import type { RequestBatcher } from '../connection/request-batcher.js';
import type { AddressedBatch } from './produce-request.js';
import type { ProducerIds, ProducerSequences } from './producer-ids.js';
import { encodeBatch } from './record-batch.js';

/** The brokers' default limit of a batch is slightly above 1 MiB. */
export const maxBatchBytes = 1_000_000;
/** Consumers make an object of each record of a batch before they handle the first one. */
export const maxBatchRecords = 5_000;

/** Records that are written in one batch, with the callback of their append. */
interface QueuedRecords {
  readonly records: readonly NewRecord[];
  /** Upper bound of their size in a batch. */
  readonly maxBytes: number;
  /** Whether they wait for as long as replicas are away. Others are given up after the limit. */
  readonly isPatient: boolean;
  settle(error?: Error): void;
}

interface Waiting extends QueuedRecords {
  readonly sinceMs: number;
}

interface Batch {
  readonly queued: readonly Waiting[];
  readonly records: readonly NewRecord[];
  /** Set when the batch is first sent, and cleared when it needs another sequence. */
  encoded: { readonly sequences: ProducerSequences; readonly bytes: Buffer } | undefined;
}

interface PartitionQueueParts {
  readonly brokers: Brokers;
  readonly producerIds: ProducerIds;
  /** Returns the batcher of requests to a broker, which answers Kafka's error code of the batch. */
  readonly batcherOf: (node: number) => RequestBatcher<AddressedBatch, number>;
  /** Kafka's name. */
  readonly topic: string;
  readonly partition: number;
  /** After this time the queue gives up records that could not be written. */
  readonly limitMs: number;
  /** Whether patient records wait for replicas. */
  readonly waitsForReplicas: () => boolean;
}

/** Kafka's error codes of a batch that is written. DUPLICATE_SEQUENCE_NUMBER: by an earlier attempt. */
const written = [0, 46];
/** MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_RECORD: another attempt would fail as well. */
const refused = [10, 18, 87];
/**
 * REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND: the leader answers so to every process
 * until enough replicas have followed it.
 */
const tooFewReplicas = [7, 19, 20];
/** OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, UNKNOWN_PRODUCER_ID: the broker lost our sequence. */
const unknownSequence = [45, 47, 59];

class Refused extends Error {}

/** The records were given up after an outage. They may still have been written. */
export class GivenUp extends ServiceError {}

/** The appends of this process to one partition, in the order of the calls. */
export class PartitionQueue {
  private queue: Waiting[] = [];
  private batch: Batch | undefined;
  private running: Promise<void> | undefined;
  private readonly name: string;

  constructor(private readonly parts: PartitionQueueParts) {
    this.name = `${parts.topic}/${parts.partition}`;
  }

  /** Queues records. They are sent in the background, and their promise tells the outcome. */
  add(records: QueuedRecords): void {
    this.queue.push({ ...records, sinceMs: performance.now() });
    this.running ??= this.run();
  }

  /** Resolves when nothing is in flight. */
  async drained(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    const options: RetryOptions = {
      limitMs: this.parts.limitMs,
      isFinal: (error) => error instanceof Refused,
      isForAll: (error) => error instanceof ReplicasAway && this.waitForReplicas(error),
    };
    while (this.queue.length > 0) {
      try {
        await retried(() => this.send(), options);
        this.succeed();
      } catch (error) {
        this.fail(error);
      }
    }
    this.running = undefined;
  }

  /**
   * Returns whether patient records wait for replicas. Others are then given up when they have waited for the limit:
   * those of a batch that was sent may still be written with it.
   */
  private waitForReplicas(cause: ReplicasAway): boolean {
    const { limitMs, waitsForReplicas } = this.parts;
    const waiting = [...(this.batch?.queued ?? []), ...this.queue];
    if (!waitsForReplicas() || !waiting.some(({ isPatient }) => isPatient)) return false;
    const isOver = ({ isPatient, sinceMs }: Waiting): boolean => !isPatient && performance.now() > sinceMs + limitMs;
    const error = this.givenUp(cause);
    for (const { settle } of waiting.filter(isOver)) settle(error);
    this.queue = this.queue.filter((each) => !isOver(each));
    return true;
  }

  private givenUp(cause: unknown): GivenUp {
    return new GivenUp(this.describe(cause), { cause });
  }

  private describe(cause: unknown): string {
    return `${this.name} could not be appended to: ${(cause as Error).message}`;
  }

  /** Makes one attempt. The batch is filled only when its request is sent. */
  private async send(): Promise<void> {
    const { brokers, producerIds, batcherOf, topic, partition } = this.parts;
    const node = await brokers.leaderOf(topic, partition);
    const sequences = await producerIds.current(() => brokers.request(node, newProducerId));
    const code = await batcherOf(node).add(() => ({ topic, partition, bytes: this.bytes(sequences) }));
    if (written.includes(code)) return;
    const message = `${this.name} answers with Kafka's error ${code}`;
    if (refused.includes(code)) throw new Refused(message);
    if (unknownSequence.includes(code)) this.dropSequence();
    else await brokers.refresh();
    throw tooFewReplicas.includes(code) ? brokers.replicasAway(message) : new Error(message);
  }

  private bytes(sequences: ProducerSequences): Buffer {
    this.batch ??= this.nextBatch();
    this.batch.encoded ??= {
      sequences,
      bytes: encodeBatch(this.batch.records, sequences.nextOf(this.name), Date.now()),
    };
    return this.batch.encoded.bytes;
  }

  /** Takes as many entries of the queue as fit into a batch, but at least one. */
  private nextBatch(): Batch {
    let bytes = 0;
    let records = 0;
    let count = 0;
    for (const each of this.queue) {
      bytes += each.maxBytes;
      records += each.records.length;
      if (count > 0 && (bytes > maxBatchBytes || records > maxBatchRecords)) break;
      count += 1;
    }
    const queued = this.queue.splice(0, count);
    return { queued, records: queued.flatMap((each) => each.records), encoded: undefined };
  }

  private dropSequence(): void {
    if (this.batch?.encoded === undefined) return;
    this.parts.producerIds.retire(this.batch.encoded.sequences);
    this.batch.encoded = undefined;
  }

  private succeed(): void {
    const { queued, records, encoded } = this.batch as Required<Batch>;
    this.batch = undefined;
    encoded!.sequences.advance(this.name, records.length);
    for (const { settle } of queued) settle();
  }

  private fail(cause: unknown): void {
    const failed = [...(this.batch?.queued ?? [])];
    // Records queued during an outage have waited nearly as long. A refused batch says nothing about the next one.
    if (!(cause instanceof Refused)) {
      failed.push(...this.queue.splice(0));
      this.dropSequence();
    }
    this.batch = undefined;
    const error = cause instanceof Refused ? new Error(this.describe(cause), { cause }) : this.givenUp(cause);
    for (const { settle } of failed) settle(error);
  }
}

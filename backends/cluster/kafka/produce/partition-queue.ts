/**
 * What is appended to one partition, in its order: one batch is under way at a time, until it is written or given up.
 *
 * Flows in: chunks of records. Flows out: to each of them, that its records are durable, or why not. A batch is sent
 * again, byte for byte, until the broker says that it has it, also where a broker that is gone may have written it: its
 * numbers let the next one see that.
 */
import type { NewRecord } from '../../../../pipeline/ports.js';
import { type RetryOptions, retried } from '../../retrying.js';
import type { Brokers } from '../connection/brokers.js';
import { newProducerId } from '../connection/kafkajs-internals.js';
import type { Numbering, Numberings } from './numbering.js';
import type { AddressedBatch } from './produce-request.js';
import { encodeBatch } from './record-batch.js';
import type { Courier } from './request-batcher.js';

/** The brokers' default limit of a batch is a little above 1 MiB. */
export const maxBatchBytes = 1_000_000;
/** Readers make an object of each record of a batch before they look at any. */
export const maxBatchRecords = 5_000;

/** Records that are written together or not at all, and who waits for them. */
export interface Chunk {
  readonly records: readonly NewRecord[];
  /** No less than they take in a batch. */
  readonly maxBytes: number;
  settle(error?: Error): void;
}

interface Batch {
  readonly chunks: readonly Chunk[];
  readonly records: readonly NewRecord[];
  /** From when it first leaves, until it needs other numbers. */
  encoded: { readonly numbering: Numbering; readonly bytes: Buffer } | undefined;
}

export interface LaneParts {
  readonly brokers: Brokers;
  readonly numberings: Numberings;
  /** To the broker; answers Kafka's error code of the batch. */
  readonly courierTo: (node: number) => Courier<AddressedBatch, number>;
  /** As Kafka names it. */
  readonly topic: string;
  readonly partition: number;
  /** After which what couldn't be written is given up. */
  readonly limitMs: number;
}

/** Kafka's error codes of a batch that is written; the second: by an earlier try. */
const written = [0, 46];
/** Of a batch too large for the topic, or broken. */
const refused = [10, 18, 87];
/** Of a broker that has lost what it knew of our numbers. */
const unknownNumbers = [45, 47, 59];

class Refused extends Error {}

export class Lane {
  private readonly waiting: Chunk[] = [];
  private batch: Batch | undefined;
  private running: Promise<void> | undefined;
  private readonly name: string;

  constructor(private readonly parts: LaneParts) {
    this.name = `${parts.topic}/${parts.partition}`;
  }

  add(chunk: Chunk): void {
    this.waiting.push(chunk);
    this.running ??= this.run();
  }

  /** Resolves when nothing is under way. */
  async drained(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    const options: RetryOptions = { limitMs: this.parts.limitMs, isFinal: (error) => error instanceof Refused };
    while (this.waiting.length > 0) {
      try {
        await retried(() => this.send(), options);
        this.succeed();
      } catch (error) {
        this.fail(error);
      }
    }
    this.running = undefined;
  }

  /** One try. The batch is made only when a request leaves. */
  private async send(): Promise<void> {
    const { brokers, numberings, courierTo, topic, partition } = this.parts;
    const node = await brokers.leaderOf(topic, partition);
    const numbering = await numberings.current(() => brokers.ask(node, newProducerId));
    const code = await courierTo(node).carry(() => ({ topic, partition, bytes: this.bytes(numbering) }));
    if (written.includes(code)) return;
    const message = `${this.name} answers with Kafka's error ${code}`;
    if (refused.includes(code)) throw new Refused(message);
    if (unknownNumbers.includes(code)) this.forgetNumbers();
    else await brokers.refresh();
    throw new Error(message);
  }

  private bytes(numbering: Numbering): Buffer {
    this.batch ??= this.take();
    this.batch.encoded ??= {
      numbering,
      bytes: encodeBatch(this.batch.records, numbering.numbersOf(this.name), Date.now()),
    };
    return this.batch.encoded.bytes;
  }

  /** As many as go into a batch, one at least. */
  private take(): Batch {
    let [bytes, records, count] = [0, 0, 0];
    for (const chunk of this.waiting) {
      bytes += chunk.maxBytes;
      records += chunk.records.length;
      if (count > 0 && (bytes > maxBatchBytes || records > maxBatchRecords)) break;
      count += 1;
    }
    const chunks = this.waiting.splice(0, count);
    return { chunks, records: chunks.flatMap((chunk) => chunk.records), encoded: undefined };
  }

  private forgetNumbers(): void {
    if (this.batch?.encoded === undefined) return;
    this.parts.numberings.giveUp(this.batch.encoded.numbering);
    this.batch.encoded = undefined;
  }

  private succeed(): void {
    const { chunks, records, encoded } = this.batch as Required<Batch>;
    this.batch = undefined;
    encoded!.numbering.written(this.name, records.length);
    for (const chunk of chunks) chunk.settle();
  }

  private fail(cause: unknown): void {
    const chunks = [...(this.batch?.chunks ?? [])];
    // What waits behind an outage has waited nearly as long. A batch that was refused is no reason to give up the next.
    if (!(cause instanceof Refused)) {
      chunks.push(...this.waiting.splice(0));
      this.forgetNumbers();
    }
    this.batch = undefined;
    const error = new Error(`${this.name} could not be appended to: ${(cause as Error).message}`, { cause });
    for (const chunk of chunks) chunk.settle(error);
  }
}

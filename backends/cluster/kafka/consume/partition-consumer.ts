/**
 * One partition of a standalone consumer: one loop fetches ahead into a bounded queue, another hands records to the
 * handler, one call at a time.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { KafkaMessage } from 'kafkajs';
import type { ConsumeOptions, LogRecord, Position } from '../../../../pipeline/ports.js';
import { asPosition, positionAfter } from '../../../../pipeline/positions.js';
import { fetchNext, maxFetchedBytes, type PartitionSource } from '../read/fetching.js';
import { LogVerification, type VerificationParts, type VerifiedPartition, verifyLog } from './log-verification.js';
import { RecordQueue } from './record-queue.js';

/** Delay before the next fetch from a log that ends before our position. */
const beyondEndDelayMs = 1_000;

export interface PartitionConsumerParts extends VerificationParts {
  readonly partition: number;
  readonly source: PartitionSource;
  readonly options: Omit<ConsumeOptions, 'group'>;
  readonly decode: (messages: readonly KafkaMessage[]) => Promise<readonly LogRecord[]>;
}

export class PartitionConsumer implements VerifiedPartition {
  readonly partition: number;
  /** After the last record that was handed over. */
  position: Position = { offset: 0, mark: null };
  private readonly queue = new RecordQueue();
  private readonly verification = new LogVerification(() => this.queue.interrupt());
  private isStopped = false;
  /** The handler accepts no more records. */
  private isHalted = false;
  /** Of the next record to fetch. */
  private nextOffset = 0;
  /** After the last record in the log, as of the last fetch. */
  private endOffset = 0;
  /** The handler has been called with, or told to skip, everything before this offset. */
  private reportedOffset = 0;
  /** Counts resumptions from another position. The result of a fetch from before the last one is discarded. */
  private resumptions = 0;
  private onStop: (nothing?: undefined) => void = () => {};
  readonly ended = new Promise<undefined>((resolve) => {
    this.onStop = resolve;
  });
  private isHandingOver = false;
  /** The latest call of the handler. */
  private handling: Promise<void> = Promise.resolve();
  private onSpace: (() => void) | undefined;

  constructor(private readonly parts: PartitionConsumerParts) {
    this.partition = parts.partition;
  }

  /**
   * Resolves after {@link stop}, when the handler has released the partition. Rejects when the handler fails, or when
   * brokers are out of reach for too long.
   */
  async run(): Promise<void> {
    const { partition, options } = this.parts;
    this.resumeFrom(asPosition(await options.handler.assigned(partition, () => !this.isStopped)));
    // A request that is in flight at the stop is not awaited, and may fail.
    const failed = new Promise<never>((_, reject) => {
      this.fetch().catch((error) => {
        if (!this.isStopped) reject(error);
      });
    });
    await Promise.race([this.handOver(), failed]);
    await options.handler.revoked(partition);
  }

  /** Hands over nothing more and discards queued records. */
  stop(): void {
    this.isStopped = true;
    this.onStop();
    this.queue.close();
    this.onSpace?.();
  }

  get isActive(): boolean {
    return !this.isStopped;
  }

  verified(socketsOpened: number): void {
    this.verification.passed(socketsOpened);
  }

  halt(): void {
    this.isHalted = true;
    this.queue.clear();
    this.onSpace?.();
  }

  resumeFrom(position: Position): void {
    this.position = position;
    this.reportedOffset = position.offset;
    this.nextOffset = position.offset;
    this.resumptions += 1;
    this.isHalted = false;
    this.queue.clear();
    this.verification.require();
    this.onSpace?.();
  }

  private async fetch(): Promise<void> {
    const { partition, source, socketsOpened } = this.parts;
    while (!this.isStopped) {
      if (this.isHalted) {
        await this.space();
        continue;
      }
      const { nextOffset: offset, resumptions } = this;
      const requested = { partition, offset, maxBytes: maxFetchedBytes };
      const fetched = await fetchNext(source, requested, () => !this.isStopped);
      if (this.isHalted || resumptions !== this.resumptions) continue;
      this.nextOffset = fetched.nextOffset;
      this.endOffset = fetched.endOffset;
      this.queue.push(fetched.messages);
      this.verification.observeLeader(fetched.messages);
      this.verification.observeConnections(socketsOpened());
      if (!this.isHandingOver) await this.reportPassed();
      if (offset > fetched.endOffset) {
        this.verification.require();
        await delay(beyondEndDelayMs);
      }
      while (!this.isStopped && !this.queue.hasRoom) await this.space();
    }
  }

  private async handOver(): Promise<void> {
    const { partition, options, decode } = this.parts;
    const { handler, maxBatchRecords, maxWaitMs } = options;
    for (;;) {
      const messages = await this.queue.take(maxBatchRecords, maxWaitMs);
      if (messages === undefined) break;
      this.isHandingOver = true;
      this.onSpace?.();
      const isSame = !this.verification.isDue || (await verifyLog(this, this.parts));
      if (isSame && messages.length > 0) {
        const records = await decode(messages);
        await this.callHandler(records.at(-1)!.offset + 1, async () => {
          if ((await handler.records(partition, records)) === 'halted') this.halt();
          else this.position = positionAfter(records.at(-1)!);
        });
        await this.reportPassed();
      }
      this.isHandingOver = false;
      // Other work of this thread runs even when every call settles at once.
      await nextTurn();
    }
    await this.handling;
  }

  /** Reports that nothing is left between the last record and the end of the log. */
  private async reportPassed(): Promise<void> {
    const { partition, options } = this.parts;
    const offset = this.nextOffset;
    if (
      this.isStopped ||
      this.isHalted ||
      this.verification.isDue ||
      this.queue.size > 0 ||
      offset < this.endOffset ||
      offset <= this.reportedOffset
    )
      return;
    await this.callHandler(offset, async () => options.handler.passed?.(partition, offset));
  }

  /** Runs the call after the one before it. */
  private callHandler(reportedOffset: number, call: () => Promise<void>): Promise<void> {
    this.handling = this.handling.then(call);
    this.reportedOffset = reportedOffset;
    return this.handling;
  }

  private space(): Promise<void> {
    return new Promise((resolve) => {
      this.onSpace = resolve;
    });
  }
}

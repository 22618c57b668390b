/**
 * One partition that is followed: a loop that fetches ahead into a bounded queue, and one that hands over what is there.
 *
 * Flows in: the offset that the handler wants to start from. Flows out: calls of the handler, one at a time.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { KafkaMessage } from 'kafkajs';
import type { ConsumeOptions, LogRecord } from '../../../pipeline/ports.js';
import { fetchFound, type PartitionSource } from './fetching.js';
import { maxFetchedBytes, RecordQueue } from './record-queue.js';

/** Between two looks at a log that ends before our position. */
const lookAgainMs = 1_000;

export interface FollowedParts {
  readonly partition: number;
  /** As Kafka names it. */
  readonly topicName: string;
  readonly source: PartitionSource;
  readonly options: Omit<ConsumeOptions, 'group'>;
  readonly decode: (messages: readonly KafkaMessage[]) => Promise<readonly LogRecord[]>;
  readonly onProblem: (message: string) => void;
}

export class Followed {
  private readonly queue = new RecordQueue();
  private isStopped = false;
  /** The handler takes no more. */
  private isHalted = false;
  /** Of the next record to fetch. */
  private nextOffset = 0;
  /** After the last record in the log, as of the last fetch. */
  private endOffset = 0;
  private looksBeyondEnd = 0;
  /** The handler knows of all before it. */
  private toldOffset = 0;
  private isHandingOver = false;
  /** The latest call of the handler. */
  private telling: Promise<void> = Promise.resolve();
  private onRoom: (() => void) | undefined;

  constructor(private readonly parts: FollowedParts) {}

  /** Resolves when the handler has let go, after {@link stop}. Rejects when the handler fails or brokers are out of reach for too long. */
  async follow(): Promise<void> {
    const { partition, options } = this.parts;
    this.toldOffset = await options.handler.assigned(partition, () => !this.isStopped);
    this.nextOffset = this.toldOffset;
    // A request that is under way when we are stopped is not waited for, and may fail.
    const failed = new Promise<never>((_, reject) => {
      this.fetch().catch((error) => {
        if (!this.isStopped) reject(error);
      });
    });
    await Promise.race([this.handOver(), failed]);
    await options.handler.revoked(partition);
  }

  /** Nothing more is handed over; what waits is forgotten. */
  stop(): void {
    this.isStopped = true;
    this.queue.close();
    this.onRoom?.();
  }

  private halt(): void {
    this.isHalted = true;
    this.queue.clear();
    this.onRoom?.();
  }

  private async fetch(): Promise<void> {
    const { partition, source } = this.parts;
    while (!this.isStopped && !this.isHalted) {
      const offset = this.nextOffset;
      const found = await fetchFound(source, { partition, offset, maxBytes: maxFetchedBytes });
      this.nextOffset = found.nextOffset;
      this.endOffset = found.endOffset;
      if (this.isHalted) return;
      this.queue.push(found.messages);
      if (!this.isHandingOver) await this.tellPassed();
      await this.lookWhetherBeyond(offset);
      while (!this.isStopped && !this.queue.hasRoom) await this.room();
    }
  }

  private async handOver(): Promise<void> {
    const { partition, options, decode } = this.parts;
    const { handler, maxBatchRecords, maxWaitMs } = options;
    for (;;) {
      const messages = await this.queue.take(maxBatchRecords, maxWaitMs);
      if (messages === undefined) break;
      this.isHandingOver = true;
      this.onRoom?.();
      const records = await decode(messages);
      await this.tell(records.at(-1)!.offset + 1, async () => {
        if ((await handler.records(partition, records)) === 'halted') this.halt();
      });
      await this.tellPassed();
      this.isHandingOver = false;
      // Others on this thread get their turn even when every hand-over settles at once.
      await nextTurn();
    }
    await this.telling;
  }

  /** What lies between the last record and the end of the log is gone. */
  private async tellPassed(): Promise<void> {
    const { partition, options } = this.parts;
    const offset = this.nextOffset;
    if (this.isStopped || this.isHalted || this.queue.size > 0 || offset < this.endOffset || offset <= this.toldOffset) return;
    await this.tell(offset, async () => options.handler.passed?.(partition, offset));
  }

  /** After the call before it. */
  private tell(toldOffset: number, call: () => Promise<void>): Promise<void> {
    this.telling = this.telling.then(call);
    this.toldOffset = toldOffset;
    return this.telling;
  }

  private room(): Promise<void> {
    return new Promise((resolve) => {
      this.onRoom = resolve;
    });
  }

  /** For a moment after a change of leaders that is nothing to speak of. Else the log lost its end, or is another one: for people to find out. */
  private async lookWhetherBeyond(offset: number): Promise<void> {
    const { partition, topicName, onProblem } = this.parts;
    this.looksBeyondEnd = offset > this.endOffset ? this.looksBeyondEnd + 1 : 0;
    if (this.looksBeyondEnd === 0) return;
    if (this.looksBeyondEnd === 3)
      onProblem(`partition ${partition} of ${topicName} ends at ${this.endOffset}: we are at ${offset}`);
    await delay(lookAgainMs);
  }
}

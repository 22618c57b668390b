/**
 * One partition that is followed: a loop that fetches ahead into a bounded queue, and one that hands over what is
 * there.
 *
 * Flows in: the offset that the handler wants to start from. Flows out: calls of the handler, one at a time.
 */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { KafkaMessage } from 'kafkajs';
import type { ConsumeOptions, Log, LogRecord, Position } from '../../../../pipeline/ports.js';
import { asPosition, findDivergence, positionAfter } from '../../../../pipeline/positions.js';
import { leaderEpochOf } from '../connection/kafkajs-internals.js';
import { maxFetchedBytes, RecordQueue } from '../consume/record-queue.js';
import { fetchFound, type PartitionSource } from './fetching.js';

/** Between two looks at a log that ends before our position. */
const lookAgainMs = 1_000;

export interface FollowedParts {
  readonly partition: number;
  /** The same log, to be looked into. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  /** How often a broker was connected to. */
  readonly socketsOpened: () => number;
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
  /** The handler knows of all before it. */
  private toldOffset = 0;
  /** After the last record that was handed over. */
  private position: Position = { offset: 0, mark: null };
  /** The log may not be the one that was read up to the position. */
  private isDoubted = true;
  private leaderEpoch: number | undefined;
  /** Connections made when the log was last compared. */
  private comparedAt = -1;
  /** Grows when the partition goes on from elsewhere: what was asked for before isn't wanted any more. */
  private turns = 0;
  private onStop: (nothing?: undefined) => void = () => {};
  private readonly stopped = new Promise<undefined>((resolve) => {
    this.onStop = resolve;
  });
  private isHandingOver = false;
  /** The latest call of the handler. */
  private telling: Promise<void> = Promise.resolve();
  private onRoom: (() => void) | undefined;

  constructor(private readonly parts: FollowedParts) {}

  /**
   * Resolves when the handler has let go, after {@link stop}. Rejects when the handler fails or brokers are out of
   * reach for too long.
   */
  async follow(): Promise<void> {
    const { partition, options } = this.parts;
    this.goOnFrom(asPosition(await options.handler.assigned(partition, () => !this.isStopped)));
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
    this.onStop();
    this.queue.close();
    this.onRoom?.();
  }

  private halt(): void {
    this.isHalted = true;
    this.queue.clear();
    this.onRoom?.();
  }

  private goOnFrom(position: Position): void {
    this.position = position;
    this.toldOffset = position.offset;
    this.nextOffset = position.offset;
    this.turns += 1;
    this.isHalted = false;
    this.queue.clear();
    this.doubt();
    this.onRoom?.();
  }

  private doubt(): void {
    this.isDoubted = true;
    this.queue.interrupt();
  }

  private async fetch(): Promise<void> {
    const { partition, source } = this.parts;
    while (!this.isStopped) {
      if (this.isHalted) {
        await this.room();
        continue;
      }
      const { nextOffset: offset, turns } = this;
      const found = await fetchFound(source, { partition, offset, maxBytes: maxFetchedBytes });
      if (this.isHalted || turns !== this.turns) continue;
      this.nextOffset = found.nextOffset;
      this.endOffset = found.endOffset;
      this.queue.push(found.messages);
      this.lookWhetherReplaced(found.messages);
      if (!this.isHandingOver) await this.tellPassed();
      if (offset > found.endOffset) {
        this.doubt();
        await delay(lookAgainMs);
      }
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
      const isSame = !this.isDoubted || (await this.compare());
      if (isSame && messages.length > 0) {
        const records = await decode(messages);
        await this.tell(records.at(-1)!.offset + 1, async () => {
          if ((await handler.records(partition, records)) === 'halted') this.halt();
          else this.position = positionAfter(records.at(-1)!);
        });
        await this.tellPassed();
      }
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
    if (
      this.isStopped ||
      this.isHalted ||
      this.isDoubted ||
      this.queue.size > 0 ||
      offset < this.endOffset ||
      offset <= this.toldOffset
    )
      return;
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

  /** By a broker that came back, or a leader that was elected, without what was read. */
  private lookWhetherReplaced(messages: readonly KafkaMessage[]): void {
    const [first] = messages;
    const last = messages.at(-1);
    const hasNewLeader = first !== undefined && leaderEpochOf(first) !== this.leaderEpoch;
    if (last !== undefined) this.leaderEpoch = leaderEpochOf(last);
    if (hasNewLeader || this.parts.socketsOpened() !== this.comparedAt) this.doubt();
  }

  /**
   * Whether the log is the one that was read up to the position. Where it isn't, what waits is forgotten, and the
   * partition goes on from elsewhere or halts.
   */
  private async compare(): Promise<boolean> {
    const { partition, log, options, socketsOpened } = this.parts;
    const { handler, topic } = options;
    const comparedAt = socketsOpened();
    if (handler.diverged === undefined) {
      this.isDoubted = false;
      this.comparedAt = comparedAt;
      return true;
    }
    const compared = findDivergence(log, topic, partition, this.position, { isWanted: () => !this.isStopped });
    // When we are stopped nobody wants to know.
    compared.catch(() => {});
    const divergence = await Promise.race([compared, this.stopped]);
    if (this.isStopped) return false;
    if (divergence === undefined) {
      this.isDoubted = false;
      this.comparedAt = comparedAt;
      return true;
    }
    this.halt();
    const next = await Promise.race([handler.diverged(partition, divergence), this.stopped]);
    if (next !== undefined && !this.isStopped) this.goOnFrom(asPosition(next));
    return false;
  }
}

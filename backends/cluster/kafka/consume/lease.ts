/**
 * What this process knows of one partition that a group gave it: how far the right to it has come, where its next
 * record is, and the records that wait to be handed over. No I/O.
 *
 *     waiting -> claiming -> held -> draining -> gone
 *
 * `waiting` for its last owner; `claiming`: the handler says where to begin; `draining`: lost, and the handler isn't
 * done with it yet. One that is lost before it was held skips what lies between.
 *
 * Each step checks the state: what kafkajs brings of a partition that isn't held, or brings from another offset than
 * the next, is not taken.
 */
import type { KafkaMessage } from 'kafkajs';
import type { Position } from '../../../../pipeline/ports.js';
import { leaderEpochOf } from '../connection/kafkajs-internals.js';
import { RecordQueue } from './record-queue.js';

export type LeaseState = 'waiting' | 'claiming' | 'held' | 'draining' | 'gone';

/** What one fetch brought of a partition. Offsets that are missing between its records are gone for good. */
export interface FetchedBatch {
  readonly partition: number;
  /** That the fetch asked for. */
  readonly fetchedOffset: number;
  /** After the last one seen, of a record or of what is no record. */
  readonly endOffset: number;
  readonly messages: readonly KafkaMessage[];
}

export class Lease {
  readonly partition: number;
  /** No other lease has it, of any process. */
  readonly id: string;
  /** As kafkajs was last told. */
  isFetching = false;
  readonly #queue = new RecordQueue();
  #state: LeaseState = 'waiting';
  #isAligned = false;
  /** Held, and to stand still until it is lost, or a place to go on from is found. */
  #isHalted = false;
  /** The log may not be the one that was read up to the position. */
  #isDoubted = false;
  /** Of the last record fetched. */
  #leaderEpoch: number | undefined;
  /** Connections to brokers that had been made when the log was last compared. */
  #comparedAt = -1;
  #mark: string | null = null;
  #onLost!: (nothing?: undefined) => void;
  /** Resolves when it is. */
  readonly lost = new Promise<undefined>((resolve) => {
    this.#onLost = resolve;
  });
  #fetchOffset = 0;
  #finishedOffset = 0;
  #busySinceMs: number | undefined;
  #steps = 0;

  constructor(partition: number, id: string) {
    this.partition = partition;
    this.id = id;
  }

  get state(): LeaseState {
    return this.#state;
  }

  /** Not lost. */
  get isOurs(): boolean {
    return this.#state === 'waiting' || this.#state === 'claiming' || this.#state === 'held';
  }

  get isHeld(): boolean {
    return this.#state === 'held';
  }

  /** Held, and its handler takes records. */
  get isMoving(): boolean {
    return this.isHeld && !this.#isHalted;
  }

  /** After the last record that was done, with its mark. */
  get position(): Position {
    return { offset: this.#finishedOffset, mark: this.#mark };
  }

  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Of the next record to fetch. */
  get fetchOffset(): number {
    return this.#fetchOffset;
  }

  /** Everything before it is done. */
  get nextOffset(): number {
    const isIdle = this.#busySinceMs === undefined && this.#queue.size === 0;
    return this.isMoving && isIdle ? this.#fetchOffset : this.#finishedOffset;
  }

  get wantsFetch(): boolean {
    return this.isMoving && this.#isAligned && this.#queue.hasRoom;
  }

  /** Grows with everything that happens to the partition. */
  get steps(): number {
    return this.#steps;
  }

  /** False when it was lost meanwhile. */
  claim(): boolean {
    if (this.#state !== 'waiting') return false;
    this.#state = 'claiming';
    this.#steps += 1;
    return true;
  }

  /**
   * Ours from this position on, unless it was lost meanwhile. To be compared with the log, and aligned with it, before
   * anything is handed over.
   */
  hold(position: Position): void {
    this.#moveTo(position);
    if (this.#state === 'claiming') this.#state = 'held';
    this.#steps += 1;
  }

  /** Halted no more: it goes on from another position, as in {@link hold}. */
  goOnFrom(position: Position): void {
    this.#queue.clear();
    this.#isHalted = false;
    this.#moveTo(position);
    this.#steps += 1;
  }

  #moveTo({ offset, mark }: Position): void {
    this.#fetchOffset = offset;
    this.#finishedOffset = offset;
    this.#mark = mark;
    this.#isAligned = false;
    this.doubt();
  }

  /** The log is to be compared with the position before anything more is handed over. */
  doubt(): void {
    this.#isDoubted = true;
    this.#queue.interrupt();
  }

  /** Doubts the log when brokers were connected to since it was compared: one may have come back with another log. */
  doubtAfter(socketsOpened: number): void {
    if (socketsOpened !== this.#comparedAt) this.doubt();
  }

  /** It was the log that was read, when so many connections had been made. */
  trust(socketsOpened: number): void {
    this.#isDoubted = false;
    this.#comparedAt = socketsOpened;
    this.#steps += 1;
  }

  /** The log has what comes next, at `fetchOffset` or, where that is gone, at `first`. */
  align(first: number): void {
    this.#isAligned = true;
    this.#fetchOffset = Math.max(this.#fetchOffset, first);
  }

  /**
   * False when the batch isn't what comes next: nothing of it is taken, and the lease is to be aligned again. Of a
   * lease that isn't held, is halted, or is to be aligned anyway, nothing is taken either.
   */
  accept(batch: FetchedBatch): boolean {
    if (!this.isMoving || !this.#isAligned) return true;
    this.#isAligned = batch.fetchedOffset === this.#fetchOffset;
    if (!this.#isAligned) return false;
    this.#fetchOffset = Math.max(this.#fetchOffset, batch.endOffset);
    this.#compareLeaders(batch.messages);
    this.#queue.push(batch.messages);
    return true;
  }

  /** A leader that begins to append where another ended may have lost what that one had. */
  #compareLeaders(messages: readonly KafkaMessage[]): void {
    const [first] = messages;
    const last = messages.at(-1);
    if (first === undefined || last === undefined) return;
    if (leaderEpochOf(first) !== this.#leaderEpoch) this.doubt();
    this.#leaderEpoch = leaderEpochOf(last);
  }

  /** From `first` to `last` the log holds nothing that is a record. */
  passOver(first: number, last: number): void {
    if (this.isHeld && first <= this.#fetchOffset && this.#fetchOffset <= last) this.#fetchOffset = last + 1;
  }

  /**
   * The next records for the handler, which is busy from then on until `finish`; none when
   * there is something else to do; undefined when the partition is to be let go.
   */
  async take(maxRecords: number, maxWaitMs: number): Promise<readonly KafkaMessage[] | undefined> {
    const messages = await this.#queue.take(maxRecords, maxWaitMs);
    if (messages === undefined) return undefined;
    if (messages.length > 0) this.#busySinceMs = performance.now();
    this.#steps += 1;
    return messages;
  }

  finish({ offset, mark }: Position): void {
    this.#finishedOffset = offset;
    this.#mark = mark;
    this.#busySinceMs = undefined;
    this.#steps += 1;
  }

  /** The handler takes no more: what it was given last isn't done, and what waits is forgotten. */
  halt(): void {
    this.#isHalted = true;
    this.#queue.clear();
    this.#busySinceMs = undefined;
    this.#steps += 1;
  }

  /** Nothing more is handed over; what waits is forgotten. */
  lose(): void {
    if (this.#state === 'draining' || this.#state === 'gone') return;
    this.#state = this.#state === 'waiting' ? 'gone' : 'draining';
    this.#queue.close();
    this.#onLost();
    this.#steps += 1;
  }

  end(): void {
    this.#state = 'gone';
    this.#steps += 1;
  }

  /** For people. */
  describe(): string {
    const busy =
      this.#busySinceMs === undefined ? 'idle' : `busy for ${Math.round(performance.now() - this.#busySinceMs)} ms`;
    const fetching = this.isFetching ? 'fetching' : 'not fetching';
    const place = `next ${this.nextOffset}, fetched to ${this.#fetchOffset}, ${this.#queue.size} records queued`;
    return `${this.#state}${this.#isHalted ? ' and halted' : ''}, ${place}, ${fetching}, handler ${busy}`;
  }
}

/**
 * What this process knows of one partition that a group gave it: how far the right to it has come, where its next record is, and the records
 * that wait to be handed over. No I/O.
 *
 *     waiting -> claiming -> held -> draining -> gone
 *
 * `waiting` for its last owner; `claiming`: the handler says where to begin; `draining`: lost, and the handler isn't done with it yet. One that is lost
 * before it was held skips what lies between.
 *
 * Each step checks the state: what kafkajs brings of a partition that isn't held, or brings from another offset than the next, is not taken.
 */
import type { KafkaMessage } from 'kafkajs';
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
  /** Held, and to stand still until it is lost. */
  #isHalted = false;
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

  /** Ours from this offset on, unless it was lost meanwhile. To be aligned with the log before anything is fetched. */
  hold(offset: number): void {
    this.#fetchOffset = offset;
    this.#finishedOffset = offset;
    if (this.#state === 'claiming') this.#state = 'held';
    this.#steps += 1;
  }

  /** The log has what comes next, at `fetchOffset` or, where that is gone, at `first`. */
  align(first: number): void {
    this.#isAligned = true;
    this.#fetchOffset = Math.max(this.#fetchOffset, first);
  }

  /**
   * False when the batch isn't what comes next: nothing of it is taken, and the lease is to be aligned again. Of a lease that isn't held, is halted, or
   * is to be aligned anyway, nothing is taken either.
   */
  accept(batch: FetchedBatch): boolean {
    if (!this.isMoving || !this.#isAligned) return true;
    this.#isAligned = batch.fetchedOffset === this.#fetchOffset;
    if (!this.#isAligned) return false;
    this.#fetchOffset = Math.max(this.#fetchOffset, batch.endOffset);
    this.#queue.push(batch.messages);
    return true;
  }

  /** From `first` to `last` the log holds nothing that is a record. */
  passOver(first: number, last: number): void {
    if (this.isHeld && first <= this.#fetchOffset && this.#fetchOffset <= last) this.#fetchOffset = last + 1;
  }

  /** The next records for the handler, which is busy from then on until `finish`; undefined when the partition is to be let go. */
  async take(maxRecords: number, maxWaitMs: number): Promise<readonly KafkaMessage[] | undefined> {
    const messages = await this.#queue.take(maxRecords, maxWaitMs);
    if (messages === undefined) return undefined;
    this.#busySinceMs = performance.now();
    this.#steps += 1;
    return messages;
  }

  finish(messages: readonly KafkaMessage[]): void {
    this.#finishedOffset = Number(messages.at(-1)!.offset) + 1;
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
    this.#steps += 1;
  }

  end(): void {
    this.#state = 'gone';
    this.#steps += 1;
  }

  /** For people. */
  describe(): string {
    const busy = this.#busySinceMs === undefined ? 'idle' : `busy for ${Math.round(performance.now() - this.#busySinceMs)} ms`;
    const fetching = this.isFetching ? 'fetching' : 'not fetching';
    const place = `next ${this.nextOffset}, fetched to ${this.#fetchOffset}, ${this.#queue.size} records queued`;
    return `${this.#state}${this.#isHalted ? ' and halted' : ''}, ${place}, ${fetching}, handler ${busy}`;
  }
}

/**
 * The assignment of one partition to this process, which consumes it: its state, the next offset, and the queue of
 * fetched records. No I/O.
 *
 *     waiting -> starting -> held -> draining -> gone
 *
 * - `waiting`: the previous owner has not released the partition, which the group assigned to this process.
 * - `starting`: the handler determines the start position.
 * - `held`: records are fetched and handed over.
 * - `draining`: the partition is lost, and the handler has not finished.
 *
 * An assignment that is lost before it was held skips the states in between. Each step checks the state: what was
 * fetched for an assignment that isn't held any more, or was moved to another position, is discarded.
 */
import type { KafkaMessage } from 'kafkajs';
import type { Position } from '../../../../pipeline/ports.js';
import { Condition } from '../../../../schemas/condition.js';
import { createDeferred } from '../../../../schemas/deferred.js';
import type { FetchedPartition } from '../read/fetching.js';
import { LogVerification } from './log-verification.js';
import { RecordQueue } from './record-queue.js';

/** The states of an assignment, which the head of this file explains. */
export type AssignmentState = 'waiting' | 'starting' | 'held' | 'draining' | 'gone';

/** The next fetch of an assignment. */
interface AssignmentFetch {
  readonly offset: number;
  /** How often the assignment has been moved to a position. What was fetched before the last move is discarded. */
  readonly moves: number;
}

/** One assignment of a partition, from the rebalance that gives it to the end of its last handler call. */
export class PartitionAssignment {
  readonly partition: number;
  /** Unique among the assignments of all processes. */
  readonly id: string;
  readonly #queue = new RecordQueue();
  #state: AssignmentState = 'waiting';
  /** Held, but nothing is handed over until the assignment is lost or resumes from another position. */
  #isHalted = false;
  readonly #verification = new LogVerification(() => this.#queue.interrupt());
  #mark: string | null = null;
  readonly #loss = createDeferred<undefined>();
  /** Resolves when the assignment is lost. */
  readonly lost = this.#loss.promise;
  /** Of the next record to fetch. */
  #fetchOffset = 0;
  #moves = 0;
  /** Notified when a fetch may have become possible, or never will. */
  readonly #fetchable = new Condition();
  #finishedOffset = 0;
  /** After the last record in the log, as of the last fetch. */
  #endOffset = 0;
  /** The last result of {@link takeEmptyEnd}. */
  #emptyEnd = 0;
  #busySinceMs: number | undefined;
  #steps = 0;

  constructor(partition: number, id: string) {
    this.partition = partition;
    this.id = id;
  }

  /** Returns the state of the assignment (see the head of this file). */
  get state(): AssignmentState {
    return this.#state;
  }

  /** Whether the assignment is not lost. */
  get isOurs(): boolean {
    return this.#state === 'waiting' || this.#state === 'starting' || this.#state === 'held';
  }

  /** Returns whether records may be fetched and handed over. */
  get isHeld(): boolean {
    return this.#state === 'held';
  }

  /** Whether the assignment is held and its handler accepts records. */
  get isMoving(): boolean {
    return this.isHeld && !this.#isHalted;
  }

  /** After the last finished record, with its mark. */
  get position(): Position {
    return { offset: this.#finishedOffset, mark: this.#mark };
  }

  /** Whether the log must be verified before anything more is handed over. */
  get needsVerification(): boolean {
    return this.#verification.isDue;
  }

  /** Everything before this offset is finished. */
  get nextOffset(): number {
    const isIdle = this.#busySinceMs === undefined && this.#queue.size === 0;
    return this.isMoving && isIdle ? this.#fetchOffset : this.#finishedOffset;
  }

  get #wantsFetch(): boolean {
    return this.isMoving && this.#queue.hasRoom;
  }

  /**
   * Increases with every step of progress, for the watchdog. Verifying the log is none: a partition beyond the end is
   * verified again and again.
   */
  get steps(): number {
    return this.#steps;
  }

  /** Returns false when the assignment has been lost. */
  start(): boolean {
    if (this.#state !== 'waiting') return false;
    this.#state = 'starting';
    this.#steps += 1;
    return true;
  }

  /**
   * Starts at the position, unless the assignment has been lost. The log must be verified before anything is handed
   * over.
   */
  hold(position: Position): void {
    this.#moveTo(position);
    if (this.#state === 'starting') this.#state = 'held';
    this.#steps += 1;
  }

  /** Ends a halt and continues from another position, as {@link hold} does. */
  resumeFrom(position: Position): void {
    this.#queue.clear();
    this.#isHalted = false;
    this.#moveTo(position);
    this.#steps += 1;
  }

  #moveTo({ offset, mark }: Position): void {
    this.#fetchOffset = offset;
    this.#finishedOffset = offset;
    this.#emptyEnd = offset;
    this.#mark = mark;
    this.#moves += 1;
    this.#verification.require();
    this.#fetchable.notifyAll();
  }

  /** Makes a verification of the log due. */
  requireVerification(): void {
    this.#verification.require();
  }

  /** Passes the number of sockets opened so far to {@link LogVerification.observeConnections}. */
  observeConnections(socketsOpened: number): void {
    this.#verification.observeConnections(socketsOpened);
  }

  /** Records that the log was verified when so many connections had been opened. */
  verified(socketsOpened: number): void {
    this.#verification.passed(socketsOpened);
  }

  /** Resolves with the next fetch when the queue has space. Undefined when the assignment is not held any more. */
  async nextFetch(): Promise<AssignmentFetch | undefined> {
    while (this.isHeld && !this.#wantsFetch) await this.#fetchable.wait();
    return this.isHeld ? { offset: this.#fetchOffset, moves: this.#moves } : undefined;
  }

  /** Queues what the fetch returned. Discards it if the assignment has been halted, moved or lost since. */
  accept({ offset, moves }: AssignmentFetch, { messages, nextOffset, endOffset }: FetchedPartition): void {
    if (!this.isMoving || moves !== this.#moves) return;
    this.#fetchOffset = nextOffset;
    this.#endOffset = endOffset;
    if (messages.length === 0 && nextOffset > offset) this.#queue.interrupt();
    this.#verification.observeLeader(messages);
    this.#queue.push(messages);
  }

  /**
   * Returns the next records for the handler, which counts as busy until `finish`. Returns none when the log must be
   * verified or may have an empty end, and undefined when the assignment is lost.
   */
  async take(maxRecords: number, maxWaitMs: number): Promise<readonly KafkaMessage[] | undefined> {
    const messages = await this.#queue.take(maxRecords, maxWaitMs);
    if (messages === undefined) return undefined;
    this.#fetchable.notifyAll();
    if (messages.length > 0) {
      this.#busySinceMs = performance.now();
      this.#steps += 1;
    }
    return messages;
  }

  /** Notes that the handler has finished the records up to a position. */
  finish({ offset, mark }: Position): void {
    this.#finishedOffset = offset;
    this.#mark = mark;
    this.#busySinceMs = undefined;
    this.#steps += 1;
  }

  /**
   * Returns the end of the log, once, when all offsets between the last finished record and the end turned out to be
   * empty. Undefined otherwise.
   */
  takeEmptyEnd(): number | undefined {
    const end = this.nextOffset;
    const isNew = end > Math.max(this.#finishedOffset, this.#emptyEnd);
    if (!isNew || end < this.#endOffset || this.needsVerification) return undefined;
    this.#emptyEnd = end;
    return end;
  }

  /** Discards queued records. The records handed over last are not finished. */
  halt(): void {
    this.#isHalted = true;
    this.#queue.clear();
    this.#busySinceMs = undefined;
    this.#steps += 1;
  }

  /** Hands over nothing more and discards queued records. */
  lose(): void {
    if (this.#state === 'draining' || this.#state === 'gone') return;
    this.#state = this.#state === 'waiting' ? 'gone' : 'draining';
    this.#queue.close();
    this.#fetchable.notifyAll();
    this.#loss.resolve(undefined);
    this.#steps += 1;
  }

  /** Ends the assignment, after the handler's last call. */
  end(): void {
    this.#state = 'gone';
    this.#steps += 1;
  }

  /** Returns the state as text, for error messages. */
  describe(): string {
    const busy =
      this.#busySinceMs === undefined ? 'idle' : `busy for ${Math.round(performance.now() - this.#busySinceMs)} ms`;
    const fetching = this.#wantsFetch ? 'fetching' : 'not fetching';
    const place = `next ${this.nextOffset}, fetched to ${this.#fetchOffset}, ${this.#queue.size} records queued`;
    return `${this.#state}${this.#isHalted ? ' and halted' : ''}, ${place}, ${fetching}, handler ${busy}`;
  }
}

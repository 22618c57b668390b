/** Queue of one partition's fetched records, oldest first. It has one taker at a time. */
import type { KafkaMessage } from 'kafkajs';
import { Condition } from '../../../../schemas/condition.js';
import { maxFetchedBytes } from '../read/fetching.js';

/** Bytes of queued keys and values. Enough to keep a handler busy while a fetch of other partitions is in flight. */
export const maxQueuedBytes = 4 * maxFetchedBytes;

interface Chunk {
  readonly messages: readonly KafkaMessage[];
  readonly bytes: number;
  /** Of the first message not taken yet. */
  next: number;
}

/** The fetched records that are not handed over yet. */
export class RecordQueue {
  #chunks: Chunk[] = [];
  #bytes = 0;
  #size = 0;
  #isClosed = false;
  #isInterrupted = false;
  /** Of the queue, or of an interruption. */
  readonly #changed = new Condition();

  /** Queued records. */
  get size(): number {
    return this.#size;
  }

  /** Whether the result of another fetch stays within the limit. */
  get hasRoom(): boolean {
    return this.#bytes + maxFetchedBytes <= maxQueuedBytes;
  }

  /** Adds a fetch as it arrived. A closed queue drops it. */
  push(messages: readonly KafkaMessage[]): void {
    if (this.#isClosed || messages.length === 0) return;
    const bytes = messages.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
    this.#chunks.push({ messages, bytes, next: 0 });
    this.#bytes += bytes;
    this.#size += messages.length;
    this.#changed.notifyAll();
  }

  /**
   * Resolves with `maxRecords` records. It resolves with fewer `maxWaitMs` after the first one, or when the queue is
   * full, and with none after an {@link interrupt}. Undefined when the queue is closed.
   */
  async take(maxRecords: number, maxWaitMs: number): Promise<readonly KafkaMessage[] | undefined> {
    while (!this.#isClosed && !this.#isInterrupted && this.#size === 0) await this.#changed.wait();
    const deadlineMs = performance.now() + maxWaitMs;
    const isWaiting = () => this.#size < maxRecords && this.hasRoom && performance.now() < deadlineMs;
    while (!this.#isClosed && !this.#isInterrupted && isWaiting())
      await this.#changed.wait({ maxMs: deadlineMs - performance.now() });
    if (this.#isClosed) return undefined;
    const isEarly = this.#isInterrupted && isWaiting();
    this.#isInterrupted = false;
    return isEarly ? [] : this.#shift(maxRecords);
  }

  /** Wakes the taker, or its next call: it has other work to do. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#changed.notifyAll();
  }

  /** Discards queued records. */
  clear(): void {
    this.#chunks = [];
    this.#bytes = 0;
    this.#size = 0;
  }

  /** Discards queued records and wakes the taker. */
  close(): void {
    this.#isClosed = true;
    this.clear();
    this.#changed.notifyAll();
  }

  #shift(maxRecords: number): readonly KafkaMessage[] {
    const taken: KafkaMessage[] = [];
    for (let first = this.#chunks[0]; first !== undefined && taken.length < maxRecords; first = this.#chunks[0]) {
      const end = Math.min(first.messages.length, first.next + maxRecords - taken.length);
      for (let index = first.next; index < end; index++) taken.push(first.messages[index]!);
      first.next = end;
      if (end < first.messages.length) break;
      this.#chunks.shift();
      this.#bytes -= first.bytes;
    }
    this.#size -= taken.length;
    return taken;
  }
}

/** Fetched records of one partition that wait to be handed over, oldest first. One taker at a time. */
import type { KafkaMessage } from 'kafkajs';

/**
 * What one fetch may bring of a partition. As large as the batches that producers make by default; a larger one comes
 * when it is first in an answer.
 */
export const maxFetchedBytes = 2 ** 20;
/** Keys and values that wait, of one partition. Enough to keep a handler busy while the next fetch is under way. */
export const maxQueuedBytes = 3 * maxFetchedBytes;

interface Chunk {
  readonly messages: readonly KafkaMessage[];
  readonly bytes: number;
  /** Of the first message not taken yet. */
  next: number;
}

export class RecordQueue {
  #chunks: Chunk[] = [];
  #bytes = 0;
  #size = 0;
  #isClosed = false;
  #isInterrupted = false;
  #onChange: (() => void) | undefined;

  /** Records that wait. */
  get size(): number {
    return this.#size;
  }

  /** Whether another fetch keeps within the bound. */
  get hasRoom(): boolean {
    return this.#bytes + maxFetchedBytes <= maxQueuedBytes;
  }

  push(messages: readonly KafkaMessage[]): void {
    if (this.#isClosed || messages.length === 0) return;
    const bytes = messages.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
    this.#chunks.push({ messages, bytes, next: 0 });
    this.#bytes += bytes;
    this.#size += messages.length;
    this.#onChange?.();
  }

  /**
   * Resolves with `maxRecords` records, or with fewer when the first of them has been waited with for `maxWaitMs` or no
   * more fit into the queue; with undefined as soon as the queue is closed. Once after an {@link interrupt}, with what
   * is there, which may be nothing.
   */
  async take(maxRecords: number, maxWaitMs: number): Promise<readonly KafkaMessage[] | undefined> {
    while (!this.#isClosed && !this.#isInterrupted && this.#size === 0) await this.#changed();
    const deadlineMs = performance.now() + maxWaitMs;
    while (!this.#isClosed && !this.#isInterrupted && this.#size < maxRecords && this.hasRoom) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) break;
      await this.#changed(leftMs);
    }
    this.#isInterrupted = false;
    return this.#isClosed ? undefined : this.#shift(maxRecords);
  }

  /** Ends the taker's waiting, or his next one: he has something else to do. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#onChange?.();
  }

  /** Forgets what waits. */
  clear(): void {
    this.#chunks = [];
    this.#bytes = 0;
    this.#size = 0;
  }

  /** Forgets what waits, and ends the taker's waiting. */
  close(): void {
    this.#isClosed = true;
    this.clear();
    this.#onChange?.();
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

  #changed(maxMs?: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#onChange = undefined;
        resolve();
      };
      const timer = maxMs === undefined ? undefined : setTimeout(wake, maxMs);
      this.#onChange = wake;
    });
  }
}

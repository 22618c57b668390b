/** A circuit breaker for dead letters: a few are bad data; a stream of them is a bad deployment. */
import type { LogRecord } from '../ports.js';
import type { BadRecord, DeadLetterReason } from '../records/decode.js';

const windowRecords = 1_000;
const minDeadLetters = 100;

/** Why a partition is halted. Nothing of its last batch is committed, so that a fixed process reads it again. */
export interface TooManyDeadLetters {
  /** Dead letters among the last `seen` records. */
  readonly dead: number;
  readonly seen: number;
  /** Offset of the record at which the breaker opened. */
  readonly offset: number;
  readonly reason: DeadLetterReason;
  readonly message: string;
}

/** Counts dead letters among the last 1,000 records of a partition. With a `maxShare` of 1 it never opens. */
export class Breaker {
  readonly #maxShare: number;
  readonly #window = new Uint8Array(windowRecords);
  #next = 0;
  #seen = 0;
  #dead = 0;

  constructor(maxShare: number) {
    this.#maxShare = maxShare;
  }

  /**
   * Counts a batch. Opens when more than `maxShare` of the last 1,000 records, and at least 100, were dead letters.
   */
  pass(records: readonly LogRecord[], deadLetters: readonly BadRecord[]): TooManyDeadLetters | undefined {
    let index = 0;
    for (const record of records) {
      const bad = deadLetters[index];
      const isDead = bad?.record === record;
      this.#remember(isDead ? 1 : 0);
      if (!isDead) continue;
      index += 1;
      if (this.#dead >= minDeadLetters && this.#dead > this.#maxShare * this.#seen) {
        return { dead: this.#dead, seen: this.#seen, offset: record.offset, reason: bad.reason, message: bad.message };
      }
    }
    return undefined;
  }

  #remember(dead: 0 | 1): void {
    this.#dead += dead - (this.#window[this.#next] as number);
    this.#window[this.#next] = dead;
    this.#next = (this.#next + 1) % windowRecords;
    if (this.#seen < windowRecords) this.#seen += 1;
  }
}

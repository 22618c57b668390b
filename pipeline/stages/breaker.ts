/** Tells bad data from a bad deploy: some dead letters are data, a stream of them is us. */
import type { LogRecord } from '../ports.js';
import type { BadRecord } from './dead-letters.js';

const windowRecords = 1_000;
const minDeadLetters = 100;
const maxShare = 0.5;

/** Thrown to stop a partition. Nothing of the batch that broke it is committed, so that a repaired process reads it again. */
export class TooManyDeadLetters extends Error {
  constructor(dead: number, seen: number, { record, reason, message }: BadRecord) {
    const { partition, offset } = record;
    super(`${dead} of the last ${seen} records of partition ${partition} were dead letters; at ${offset}: ${reason}, ${message}`);
    this.name = 'TooManyDeadLetters';
  }
}

/** Remembers which of the last 1,000 records of a partition were dead letters. */
export class Breaker {
  readonly #window = new Uint8Array(windowRecords);
  #next = 0;
  #seen = 0;
  #dead = 0;

  /** Takes in a batch; throws when more than half of the last 1,000 records, and at least 100, were dead letters. */
  pass(records: readonly LogRecord[], deadLetters: readonly BadRecord[]): void {
    let index = 0;
    for (const record of records) {
      const bad = deadLetters[index];
      const isDead = bad?.record === record;
      this.#remember(isDead ? 1 : 0);
      if (!isDead) continue;
      index += 1;
      if (this.#dead >= minDeadLetters && this.#dead > maxShare * this.#seen) {
        throw new TooManyDeadLetters(this.#dead, this.#seen, bad);
      }
    }
  }

  #remember(dead: 0 | 1): void {
    this.#dead += dead - (this.#window[this.#next] as number);
    this.#window[this.#next] = dead;
    this.#next = (this.#next + 1) % windowRecords;
    if (this.#seen < windowRecords) this.#seen += 1;
  }
}

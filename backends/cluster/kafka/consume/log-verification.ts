/**
 * Tracks when a partition's log must be verified: whether it is still the one that was read up to the position.
 *
 * A broker may come back with an older disk, or a new leader may lack records that were read. The log is therefore
 * verified before the first record is handed over, after every new connection to a broker, and when records of another
 * leader arrive.
 */
import type { KafkaMessage } from 'kafkajs';
import { leaderEpochOf } from '../connection/kafkajs-internals.js';

/** Tracks whether the log must be verified. Calls `onDue` when that becomes so. No I/O. */
export class LogVerification {
  #isDue = false;
  /** Connections to brokers that had been opened at the last verification. */
  #socketsAtLast = -1;
  /** Of the last record fetched. */
  #leaderEpoch: number | undefined;
  readonly #onDue: () => void;

  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  /** Returns whether the log must be verified before another record is handed over. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** Makes a verification due, and wakes the taker of records. */
  require(): void {
    this.#isDue = true;
    this.#onDue();
  }

  /** Requires verification if brokers were connected to since the last one: one may have come back with another log. */
  observeConnections(socketsOpened: number): void {
    if (socketsOpened !== this.#socketsAtLast) this.require();
  }

  /** Requires verification if another leader appended the messages: it may lack what the earlier one had. */
  observeLeader(messages: readonly KafkaMessage[]): void {
    const [first] = messages;
    const last = messages.at(-1);
    if (first === undefined || last === undefined) return;
    if (leaderEpochOf(first) !== this.#leaderEpoch) this.require();
    this.#leaderEpoch = leaderEpochOf(last);
  }

  /** Records that the log was verified when so many connections had been opened. */
  passed(socketsOpened: number): void {
    this.#isDue = false;
    this.#socketsAtLast = socketsOpened;
  }
}

/**
 * Verifies that a partition's log is still the one that was read up to the position.
 *
 * A broker may come back with an older disk, or a new leader may lack records that were read. The log is therefore
 * verified before the first record is handed over, after every new connection to a broker, and when records of another
 * leader arrive.
 */
import type { KafkaMessage } from 'kafkajs';
import type { ConsumeOptions, Log, Position } from '../../../../pipeline/ports.js';
import { asPosition, findDivergence } from '../../../../pipeline/positions.js';
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

  get isDue(): boolean {
    return this.#isDue;
  }

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

/** A partition that this process consumes. */
export interface VerifiedPartition {
  readonly partition: number;
  /** After the last record that was handled. */
  readonly position: Position;
  /** False when the partition has left this process. */
  readonly isHeld: boolean;
  /** Resolves when the partition has left this process. */
  readonly lost: Promise<undefined>;
  /** Continues: the log is the same. */
  verified(socketsOpened: number): void;
  /** Stops fetching and discards queued records: the log is another one. */
  halt(): void;
  /** Continues from another position, which is verified in turn. */
  resumeFrom(position: Position): void;
}

export interface VerificationParts {
  /** The same log, for reads at any offset. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  readonly options: Pick<ConsumeOptions, 'topic' | 'handler'>;
  /** Number of connections to brokers opened so far. */
  readonly socketsOpened: () => number;
}

/**
 * Returns whether the log is the one that was read up to the position. When it is not, the partition halts until the
 * handler returns a position to resume from. Handlers without `diverged` skip the verification.
 */
export async function verifyLog(partition: VerifiedPartition, parts: VerificationParts): Promise<boolean> {
  const { handler, topic } = parts.options;
  const socketsOpened = parts.socketsOpened();
  if (handler.diverged === undefined) {
    partition.verified(socketsOpened);
    return true;
  }
  const isWanted = (): boolean => partition.isHeld;
  const search = findDivergence(parts.log, topic, partition.partition, partition.position, { isWanted });
  // Nobody needs the result, or its failure, after the partition has left.
  search.catch(() => {});
  const divergence = await Promise.race([search, partition.lost]);
  if (!partition.isHeld) return false;
  if (divergence === undefined) {
    partition.verified(socketsOpened);
    return true;
  }
  partition.halt();
  const next = await Promise.race([handler.diverged(partition.partition, divergence), partition.lost]);
  if (next !== undefined && partition.isHeld) partition.resumeFrom(asPosition(next));
  return false;
}

/**
 * Follows one topic into tables. Records become rows as they come; rows are stored when there are enough of them or the
 * first has waited long enough; the positions move when everything before them is stored. A crash repeats, and never
 * loses.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Codec } from '../../../schemas/codecs.js';
import type { DeadLetter } from '../../../schemas/records.js';
import type {
  Divergence,
  HandOverResult,
  Log,
  LogRecord,
  Position,
  Positions,
  StreamHandler,
  Topic,
} from '../../ports.js';
import { describeDivergence, positionAfter } from '../../positions.js';
import { type BadRecord, decodeRecord, isBadRecord } from '../../records/decode.js';
import { Breaker, type HaltedPartition, type TooManyDeadLetters } from '../breaker.js';
import { verifyEveryMs } from '../claim-watch.js';
import { bury } from '../dead-letters.js';
import type { Metrics } from '../metrics.js';

/** Where decoded records turn into rows. */
export interface Tables<T extends object> {
  /** `frame` is the record as it came; it is valid during the call only. */
  take(value: T, frame: Buffer): void;
  /** Rows that wait. */
  readonly size: number;
  /**
   * Stores the rows that wait. Answers true when nothing taken before the call is left: the positions may move. `all`
   * asks for that; otherwise tables may keep rows that are likely to be replaced soon.
   */
  store(all: boolean): Promise<boolean>;
}

export interface TopicSinkParts<T extends object> {
  readonly log: Log;
  readonly positions: Positions;
  readonly group: string;
  readonly topic: Topic;
  readonly codec: Codec<T>;
  readonly deadLetterCodec: Codec<DeadLetter>;
  readonly tables: Tables<T>;
  readonly maxRows: number;
  readonly maxDelayMs: number;
  readonly maxDeadLetterShare: number;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly onHalted: (halted: HaltedPartition) => void;
  /** Told that a partition is not the log that was read before, and stands still. */
  readonly onDiverged: (message: string) => void;
  /** Told once when storing fails outside of a call by the log; the sink is of no use then. */
  readonly onFailure: (error: unknown) => void;
}

export class TopicSink<T extends object> implements StreamHandler {
  readonly #parts: TopicSinkParts<T>;
  /** The position after the last record taken, by partition, of those whose position has not moved there. */
  readonly #taken = new Map<number, Position>();
  readonly #breakers = new Map<number, Breaker>();
  #oldestTimestamp = Number.POSITIVE_INFINITY;
  #storing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: TopicSinkParts<T>) {
    this.#parts = parts;
  }

  assigned(partition: number): Promise<Position> {
    const { positions, group, topic } = this.#parts;
    this.#breakers.set(partition, new Breaker(this.#parts.maxDeadLetterShare));
    return positions.get(group, topic, partition);
  }

  async records(partition: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    const { tables, maxRows } = this.#parts;
    const bad = this.#take(records);
    const tooMany = this.#breakers.get(partition)?.pass(records, bad);
    if (tooMany !== undefined) return this.#halt(partition, tooMany);
    if (bad.length > 0) await bury({ ...this.#parts, codec: this.#parts.deadLetterCodec }, bad);
    this.#oldestTimestamp = Math.min(this.#oldestTimestamp, (records[0] as LogRecord).timestamp);
    this.#taken.set(partition, positionAfter(records.at(-1) as LogRecord));
    this.#storeLater();
    // The bound: the log hands over no more of this partition until there is room.
    while (tables.size >= maxRows) await (this.#storing ?? this.store(false));
  }

  /** Waits until somebody has moved the position. */
  async diverged(partition: number, divergence: Divergence): Promise<Position> {
    const { positions, group, topic, metrics, onDiverged } = this.#parts;
    onDiverged(describeDivergence(divergence));
    metrics.add('partitions_diverged', 1, topic);
    try {
      await this.store(true);
      const before = await positions.get(group, topic, partition);
      for (;;) {
        await delay(verifyEveryMs, undefined, { ref: false });
        const now = this.#breakers.has(partition) ? await positions.get(group, topic, partition) : undefined;
        if (now === undefined) return before;
        if (now.offset !== before.offset || now.mark !== before.mark) return now;
      }
    } finally {
      metrics.add('partitions_diverged', -1, topic);
    }
  }

  async revoked(partition: number): Promise<void> {
    await this.store(true);
    this.#breakers.delete(partition);
    if (this.#taken.size === 0) clearTimeout(this.#timer);
  }

  /**
   * Stores what waits, after what is being stored. A failure is for ever: rows are gone that the positions must not
   * pass, and the next process reads them again.
   */
  async store(all: boolean): Promise<void> {
    while (this.#storing !== undefined) await this.#storing;
    this.#storing = this.#storeNow(all);
    await this.#storing;
    this.#storing = undefined;
  }

  #take(records: readonly LogRecord[]): BadRecord[] {
    const { codec, tables } = this.#parts;
    const bad: BadRecord[] = [];
    for (const record of records) {
      const decoded = decodeRecord(codec, record);
      if (isBadRecord(decoded)) bad.push(decoded);
      else tables.take(decoded, record.value as Buffer);
    }
    return bad;
  }

  /** Rows of the batch that were taken already are stored again when a repaired process reads it. */
  #halt(partition: number, tooMany: TooManyDeadLetters): 'halted' {
    const { topic, metrics, onHalted } = this.#parts;
    metrics.add('partitions_halted_total', 1, topic);
    onHalted({ topic, partition, ...tooMany });
    return 'halted';
  }

  async #storeNow(all: boolean): Promise<void> {
    const { tables, positions, group, topic, metrics, clock } = this.#parts;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const taken = [...this.#taken];
    if (taken.length === 0) return;
    const oldestTimestamp = this.#oldestTimestamp;
    this.#oldestTimestamp = Number.POSITIVE_INFINITY;
    const isAllStored = await tables.store(all);
    if (Number.isFinite(oldestTimestamp)) metrics.observe('analytics_lag_ms', clock() - oldestTimestamp);
    if (!isAllStored) return this.#storeLater();
    await Promise.all(taken.map(([partition, position]) => positions.set(group, topic, partition, position)));
    for (const [partition, position] of taken) {
      if (this.#taken.get(partition) === position) this.#taken.delete(partition);
    }
  }

  #storeLater(): void {
    this.#timer ??= setTimeout(() => void this.store(false).catch(this.#parts.onFailure), this.#parts.maxDelayMs);
  }
}

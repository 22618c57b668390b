/**
 * Consumes one topic into tables. Records become rows at once. Rows are stored when there are enough, when the first
 * has been buffered long enough, or when there are many and no more arrive. Positions advance when all rows before them
 * are stored. A crash repeats rows and loses none.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Codec } from '../../../schemas/codecs.js';
import type { DeadLetter } from '../../../schemas/records.js';
import type {
  Divergence,
  ExpiredRecords,
  HandOverResult,
  Log,
  LogRecord,
  Position,
  Positions,
  StreamHandler,
  Topic,
} from '../../ports.js';
import { isSamePosition, positionAfter } from '../../positions.js';
import { type BadRecord, decodeRecord, isBadRecord } from '../../records/decode.js';
import { Breaker } from '../breaker.js';
import { verifyEveryMs } from '../claim-watch.js';
import { appendDeadLetters } from '../dead-letters.js';
import type { Metrics } from '../metrics.js';
import { createPartitionAlerts, type PartitionAlert, type PartitionAlerts } from '../partition-alerts.js';

/** Turns decoded records into rows. */
export interface Tables<T extends object> {
  /** Buffers the rows of a record. `frame` is the encoded record. Both are valid during the call only. */
  add(value: T, frame: Buffer): void;
  /** Number of buffered rows. */
  readonly size: number;
  /** Bytes of the buffered rows. */
  readonly bytes: number;
  /**
   * Stores buffered rows. Returns true when every row added before the call is stored, so that positions may advance.
   * With `all` that is certain; otherwise tables may keep rows that are likely to be replaced soon.
   */
  store(all: boolean): Promise<boolean>;
}

interface TopicSinkParts<T extends object> {
  readonly log: Log;
  readonly positions: Positions;
  readonly group: string;
  readonly topic: Topic;
  readonly codec: Pick<Codec<T>, 'decode'>;
  readonly deadLetterCodec: Codec<DeadLetter>;
  readonly tables: Tables<T>;
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly maxDelayMs: number;
  /** Many rows are stored when no more have arrived for this long. */
  readonly quietMs: number;
  readonly maxDeadLetterShare: number;
  /** After it aborts, a failed store is given up, because the sink is closing. */
  readonly givingUp: AbortSignal;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly onAlert: (alert: PartitionAlert) => void;
  /** Called once when storing fails outside of the log's calls; the sink must not be used then. */
  readonly onFailure: (error: unknown) => void;
}

/** The share of `maxRows` that is worth an insert of its own: parts become at most four times as many. */
const manyShare = 0.25;

/** The handler of one topic's records, for the partitions that this process is assigned. */
export class TopicSink<T extends object> implements StreamHandler {
  readonly #parts: TopicSinkParts<T>;
  readonly #alerts: PartitionAlerts;
  /** Position after the last added record, for partitions whose position has not advanced to it. */
  readonly #unsaved = new Map<number, Position>();
  readonly #breakers = new Map<number, Breaker>();
  #oldestTimestamp = Number.POSITIVE_INFINITY;
  #hasGivenUp = false;
  #storing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #quietTimer: NodeJS.Timeout | undefined;

  constructor(parts: TopicSinkParts<T>) {
    this.#parts = parts;
    this.#alerts = createPartitionAlerts(parts);
  }

  assigned(partition: number): Promise<Position> {
    const { positions, group, topic } = this.#parts;
    this.#breakers.set(partition, new Breaker(this.#parts.maxDeadLetterShare));
    return positions.get(group, topic, partition);
  }

  /** Moves the position past offsets without records. */
  async passed(partition: number, nextOffset: number): Promise<void> {
    const { positions, group, topic } = this.#parts;
    const { mark } = this.#unsaved.get(partition) ?? (await positions.get(group, topic, partition));
    this.#unsaved.set(partition, { offset: nextOffset, mark });
    this.#storeLater();
  }

  async records(partition: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    const { tables, maxRows, maxBytes } = this.#parts;
    const bad = this.#addAll(records);
    const tooMany = this.#breakers.get(partition)?.pass(records, bad);
    if (tooMany !== undefined) {
      // Rows of the batch are stored again when a fixed process reads it.
      this.#alerts.halted(partition, tooMany);
      return 'halted';
    }
    if (bad.length > 0) await appendDeadLetters({ ...this.#parts, codec: this.#parts.deadLetterCodec }, bad);
    this.#oldestTimestamp = Math.min(this.#oldestTimestamp, (records[0] as LogRecord).timestamp);
    this.#unsaved.set(partition, positionAfter(records.at(-1) as LogRecord));
    this.#storeLater();
    this.#storeWhenQuiet();
    // Backpressure: the log hands over no more of this partition until there is space.
    while (!this.#hasGivenUp && (tables.size >= maxRows || tables.bytes >= maxBytes))
      await (this.#storing ?? this.store(false));
  }

  /** Waits until the position was repaired. */
  async diverged(partition: number, divergence: Divergence): Promise<Position> {
    const { positions, group, topic } = this.#parts;
    this.#alerts.diverged(divergence);
    try {
      await this.store(true);
      while (this.#breakers.has(partition)) {
        const position = await positions.get(group, topic, partition);
        if (!isSamePosition(position, divergence.position)) return position;
        await delay(verifyEveryMs, undefined, { ref: false });
      }
      return divergence.position;
    } finally {
      this.#alerts.noLongerDiverged(divergence);
    }
  }

  expired(records: ExpiredRecords): void {
    this.#alerts.expired(records);
  }

  async revoked(partition: number): Promise<void> {
    await this.store(true);
    this.#breakers.delete(partition);
    if (this.#unsaved.size === 0) this.#stopTimers();
  }

  /**
   * Stores buffered rows after the current store. A failure is final: its rows are lost from memory, so positions must
   * not pass them, and the next process reads them again. Resolves without having stored them when the sink gives up.
   */
  async store(all: boolean): Promise<void> {
    while (this.#storing !== undefined) await this.#storing;
    this.#storing = this.#storeNow(all);
    await this.#storing;
    this.#storing = undefined;
  }

  #addAll(records: readonly LogRecord[]): BadRecord[] {
    const { codec, tables } = this.#parts;
    const bad: BadRecord[] = [];
    for (const record of records) {
      const decoded = decodeRecord(codec, record);
      if (isBadRecord(decoded)) bad.push(decoded);
      else tables.add(decoded, record.value as Buffer);
    }
    return bad;
  }

  async #storeNow(all: boolean): Promise<void> {
    const { positions, group, topic, metrics, clock } = this.#parts;
    this.#stopTimers();
    const unsaved = [...this.#unsaved];
    if (this.#hasGivenUp || unsaved.length === 0) return;
    const oldestTimestamp = this.#oldestTimestamp;
    this.#oldestTimestamp = Number.POSITIVE_INFINITY;
    const isAllStored = await this.#storeOrGiveUp(all);
    if (this.#hasGivenUp) return;
    if (Number.isFinite(oldestTimestamp)) metrics.observe('analytics_lag_seconds', (clock() - oldestTimestamp) / 1_000);
    if (!isAllStored) return this.#storeLater();
    await Promise.all(unsaved.map(([partition, position]) => positions.set(group, topic, partition, position)));
    for (const [partition, position] of unsaved) {
      if (this.#unsaved.get(partition) === position) this.#unsaved.delete(partition);
    }
  }

  async #storeOrGiveUp(all: boolean): Promise<boolean> {
    try {
      return await this.#parts.tables.store(all);
    } catch (error) {
      if (!this.#parts.givingUp.aborted) throw error;
      this.#hasGivenUp = true;
      return false;
    }
  }

  #storeLater(): void {
    this.#timer ??= this.#storeAfter(this.#parts.maxDelayMs);
  }

  #storeWhenQuiet(): void {
    const { tables, maxRows, quietMs } = this.#parts;
    clearTimeout(this.#quietTimer);
    if (tables.size >= manyShare * maxRows) this.#quietTimer = this.#storeAfter(quietMs);
  }

  #storeAfter(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => void this.store(false).catch(this.#parts.onFailure), delayMs);
  }

  #stopTimers(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#quietTimer);
    this.#timer = undefined;
  }
}

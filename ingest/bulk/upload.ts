/**
 * One bulk upload in progress: appends locations to the log in batches, one after the other, reads a few batches ahead,
 * and counts what became of each location.
 */
import { type Log, type NewRecord, topics } from '../../pipeline/ports.js';
import { Slab } from '../../pipeline/records/slab.js';
import type { FieldProblem, Validated } from '../../schemas/errors.js';
import type { Location } from '../../schemas/records.js';
import { createTurns } from '../../schemas/turns.js';
import { type Admission, recordOf } from '../intake.js';

/** Most locations of a batch, which is appended at once. */
export const batchRecords = 2_000;
/** Locations with much metadata have 16 kB each. */
const batchBytes = 2 ** 20;
/** To find the fault of a bad line takes ten microseconds and more. */
const rejectedPerTurn = 500;
const maxPendingBatches = 4;
const maxListedRejections = 100;
const nextTurn = createTurns();

interface RejectedLine {
  /** Counted from 1: the line of the text, or the record of the container. */
  readonly line: number;
  readonly param: string;
  readonly message: string;
}

interface Tally {
  /** Number of durable locations: the first valid ones of the upload. */
  readonly accepted: number;
  readonly rejected: number;
  /** The first hundred rejections. */
  readonly rejections: readonly RejectedLine[];
}

/** One bulk upload. Add its locations as they are parsed; the tally is complete when the upload has ended. */
export class BulkUpload {
  readonly #log: Pick<Log, 'append'>;
  readonly #admission: Admission;
  readonly #pace: (records: number) => Promise<void>;
  readonly #onRejected: (problem: FieldProblem) => void;
  readonly #rejections: RejectedLine[] = [];
  readonly #pending = new Set<Promise<void>>();
  #lastAppend = Promise.resolve();
  #accepted = 0;
  #rejected = 0;
  #slab = new Slab();
  #batch: NewRecord[] = [];
  #batchBytes = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(
    log: Pick<Log, 'append'>,
    admission: Admission,
    pace: (records: number) => Promise<void>,
    onRejected: (problem: FieldProblem) => void,
  ) {
    this.#log = log;
    this.#admission = admission;
    this.#pace = pace;
    this.#onRejected = onRejected;
  }

  /** Returns what became of the locations so far. */
  get tally(): Tally {
    return { accepted: this.#accepted, rejected: this.#rejected, rejections: this.#rejections };
  }

  /**
   * Adds the location of a line, or counts its problem. Returns true when {@link flush} is due: a batch is full, or
   * many lines were bad.
   */
  add(line: number, result: Validated<Location>): boolean {
    if (!result.ok) {
      const { param, rule } = result.problem;
      this.#rejected += 1;
      this.#onRejected(result.problem);
      if (this.#rejections.length < maxListedRejections)
        this.#rejections.push({ line, param, message: `${param}: ${rule}` });
      return this.#rejected % rejectedPerTurn === 0;
    }
    const record = recordOf(result.value, this.#slab);
    this.#batch.push(record);
    this.#batchBytes += record.value?.length ?? 0;
    return this.#batch.length >= batchRecords || this.#batchBytes >= batchBytes;
  }

  /** Appends the batch. Resolves when another batch may follow; rejects when a batch could not be appended. */
  async flush(): Promise<void> {
    const records = this.#batch.length;
    this.#append();
    // Lets other requests run between batches, of which any number of uploads makes one in a turn.
    await nextTurn();
    while (this.#pending.size >= maxPendingBatches) await Promise.race(this.#pending);
    await this.#pace(records);
    if (this.#failure) throw this.#failure.error;
  }

  /** Resolves when every added location is durable or has failed; never rejects. */
  async settle(): Promise<void> {
    this.#append();
    await Promise.all(this.#pending);
  }

  /** The error of the first batch that could not be appended. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  #append(): void {
    const batch = this.#batch;
    if (batch.length === 0 || this.#failure) return;
    const bytes = this.#batchBytes;
    const pending = this.#lastAppend.then(() => this.#appendNow(batch, bytes));
    this.#lastAppend = pending;
    this.#pending.add(pending);
    void pending.then(() => this.#pending.delete(pending));
    this.#slab = new Slab();
    this.#batch = [];
    this.#batchBytes = 0;
  }

  /**
   * Appends one batch. Its predecessors are durable: a batch that overtakes an earlier one makes its locations stale.
   */
  async #appendNow(batch: readonly NewRecord[], bytes: number): Promise<void> {
    if (this.#failure) return;
    const append = () => this.#log.append(topics.locations, batch);
    try {
      await this.#admission.runWhenFitting(batch.length, bytes, append);
      this.#accepted += batch.length;
    } catch (error) {
      this.#failure = { error };
    }
  }
}

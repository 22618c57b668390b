/**
 * One replay on the node that runs it: waits for its turn, follows its process, stores its progress and its events, and
 * ends it when somebody or something wants that.
 */
import { isProjectDeleted } from '../pipeline/catalog/store/tables/revisions.js';
import type { ConfigurationReader } from '../pipeline/catalog/types.js';
import { ignorePassing } from '../pipeline/errors.js';
import type { FairLimit } from '../pipeline/fair-limit.js';
import type { RunReplay } from './child.js';
import type { FoundIn, JobBounds, JobMessage, ReplayJob } from './job.js';
import { eventsPerPage, type ReplayRecord, retentionMs, type StoredReplays } from './stored-replays.js';

/** Why a replay ends early. */
type StopReason = 'cancelled' | 'too_long' | 'project_deleted' | 'lease_lost' | 'not_stored' | 'closing';

/** Ends a replay, for the first reason that it is given. */
export class Stop {
  readonly #controller = new AbortController();

  /** Returns the signal that ends the run. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Undefined until the replay is ended. */
  get reason(): StopReason | undefined {
    return this.signal.reason;
  }

  /** Ends the run. Only the first reason counts. */
  because(reason: StopReason): void {
    this.#controller.abort(reason);
  }
}

interface ReplayRunParts {
  readonly configuration: Pick<ConfigurationReader, 'revisionOf'>;
  readonly stored: StoredReplays;
  readonly run: RunReplay;
  readonly inTurn: FairLimit;
  readonly clock: () => number;
  readonly bounds: JobBounds;
  /** Limit of a replay from its turn on. */
  readonly maxMs: number;
  /** Interval at which progress is stored and a cancellation is noticed. */
  readonly everyMs: number;
}

/** One replay from its admission to its end. */
export class ReplayRun {
  readonly #parts: ReplayRunParts;
  readonly #stop: Stop;
  #record: ReplayRecord;
  #hasChanged = false;
  #storedAtMs: number;
  #startedAtMs: number | undefined;
  readonly #pages: Record<FoundIn, string[]> = { both: [], replay: [], record: [] };
  readonly #pageCounts: Record<FoundIn, number> = { both: 0, replay: 0, record: 0 };
  /** What is stored is written in turn. */
  #writing: Promise<unknown> = Promise.resolve();
  #isStored = true;

  constructor(parts: ReplayRunParts, record: ReplayRecord, stop: Stop) {
    this.#parts = parts;
    this.#record = record;
    this.#storedAtMs = record.createdAt;
    this.#stop = stop;
  }

  /** Runs the job in its turn. Returns the record of its end, which is not stored yet; all its events are. */
  async run(job: ReplayJob): Promise<ReplayRecord> {
    const { clock, everyMs, inTurn, run, bounds } = this.#parts;
    // Without the store, progress is stored later, and a cancellation is noticed later.
    const timer = setInterval(() => this.#write(() => this.#look().catch(ignorePassing)), everyMs);
    try {
      const start = (): Promise<void> => {
        this.#startedAtMs = clock();
        return run(job, bounds, (message) => this.#hear(message), this.#stop.signal);
      };
      await inTurn(this.#record.project, start, this.#stop.signal);
    } catch (error) {
      // One that ends while it waits has a reason of its own.
      if (this.#stop.reason === undefined)
        this.#hear({ kind: 'failed', reason: `the replay could not start: ${(error as Error).message}` });
    }
    clearInterval(timer);
    for (const foundIn of Object.keys(this.#pages) as FoundIn[]) this.#flush(foundIn, 1);
    await this.#writing;
    const isStopped = this.#record.status === 'running' || !this.#isStored;
    return { ...this.#record, ...(isStopped && this.#endBy(this.#stop.reason ?? 'closing')), finishedAt: clock() };
  }

  #hear(message: JobMessage): void {
    this.#hasChanged = true;
    const record = this.#record;
    if (message.kind === 'progress')
      this.#record = { ...record, recordsRead: message.records, recordsTotal: message.total };
    else if (message.kind === 'events') this.#keep(message.foundIn, message.events);
    else if (message.kind === 'end') this.#record = { ...record, status: 'completed', summary: message.summary };
    else this.#record = { ...record, status: 'failed', message: message.reason };
  }

  #keep(foundIn: FoundIn, events: readonly string[]): void {
    this.#pages[foundIn].push(...events);
    const { kept } = this.#record;
    this.#record = { ...this.#record, kept: { ...kept, [foundIn]: kept[foundIn] + events.length } };
    this.#flush(foundIn, eventsPerPage);
  }

  /** Writes pages while at least so many events wait. */
  #flush(foundIn: FoundIn, least: number): void {
    const waiting = this.#pages[foundIn];
    while (waiting.length >= least) {
      const events = waiting.splice(0, eventsPerPage);
      const page = this.#pageCounts[foundIn]++;
      this.#write(() => this.#parts.stored.putPage(this.#record._id, foundIn, page, events));
    }
  }

  #write(work: () => Promise<unknown>): void {
    this.#writing = this.#writing.then(work).catch(() => {
      this.#isStored = false;
      this.#stop.because('not_stored');
    });
  }

  /** Stores the progress, and looks for a reason to end. */
  async #look(): Promise<void> {
    const { configuration, stored, clock, maxMs } = this.#parts;
    // The end is stored once all events are.
    const current = this.#record;
    if (current.status !== 'running') return;
    // One that waits long must not expire.
    if (this.#hasChanged || clock() - this.#storedAtMs > retentionMs / 2) {
      await stored.put(current);
      this.#storedAtMs = clock();
    }
    this.#hasChanged = false;
    if (isProjectDeleted(configuration, current.project)) this.#stop.because('project_deleted');
    else if (await stored.isCancelled(current._id)) this.#stop.because('cancelled');
    else if (this.#startedAtMs !== undefined && clock() - this.#startedAtMs > maxMs) this.#stop.because('too_long');
  }

  #endBy(reason: StopReason): Partial<ReplayRecord> {
    if (reason === 'cancelled') return { status: 'cancelled' };
    const messages: Readonly<Record<typeof reason, string>> = {
      too_long: `the replay took more than ${this.#parts.maxMs / 1_000} seconds: choose a shorter range`,
      project_deleted: 'the project was deleted',
      lease_lost: 'after a long outage another replay of the project may have started',
      not_stored: 'its events could not be stored',
      closing: 'the server was stopped',
    };
    return { status: 'failed', message: messages[reason] };
  }
}

/**
 * Applies the rows of a file: reads them, compares them with the configuration, and writes those that differ.
 *
 * Input: rows in batches. Output: changes in batches, each with what the caller wants to be written together with it.
 * Memory is constant except for {@link SeenIds}. A bad row is reported and the others are applied.
 */
import type { Outcome } from '../http/fields/reader.js';
import type {
  Base,
  ConfigurationChange,
  ConfigurationReader,
  ConfigurationWriter,
  EditOutcome,
} from '../pipeline/catalog/types.js';
import { isPortError } from '../pipeline/errors.js';
import { retried } from '../pipeline/retrying.js';
import type { ImportCounts } from '../schemas/json/import.js';
import { createTurns } from '../schemas/turns.js';
import { changedFields, type ImportedRecord, type ImportedResource, isUnchanged, type ReadRow } from './resources.js';
import { SeenIds } from './seen-ids.js';
import type { RowBatch, RowProblem, SourceRow } from './source.js';

/** What a good row does to the record that it names. */
export type RowAction = 'created' | 'updated' | 'unchanged';

/** How far an import is: everything up to `lastLine` is decided, and what had to be written is in the same write. */
export interface ImportProgress extends ImportCounts {
  readonly bytesRead: number;
  /** Last line whose row is applied or rejected; 0 before the first. */
  readonly lastLine: number;
}

/** What the caller does with the decisions. */
export interface ImportSink {
  rejected(row: SourceRow, problem: RowProblem, header: readonly string[] | undefined): void;
  /** Called for every good row when it is decided, before it is written. `changed` names the fields that differ. */
  decided?(line: number, action: RowAction, row: ReadRow, changed: readonly string[]): void;
  /**
   * Returns changes to write together with the rows up to this progress, in the same append.
   * @param isAlone there are no such rows, so that only these changes are written.
   */
  checkpoint(progress: ImportProgress, isAlone: boolean): readonly ConfigurationChange[];
}

interface EngineRequest {
  readonly resource: ImportedResource;
  readonly batches: AsyncIterable<RowBatch>;
  readonly isDryRun: boolean;
  readonly maxRows: number;
  /** What the numbers of rows count, such as `line`. */
  readonly unit: string;
  readonly signal?: AbortSignal | undefined;
}

interface EngineParts {
  readonly configuration: Pick<ConfigurationReader, 'bases' | 'revisionOf'>;
  readonly writer: ConfigurationWriter;
}

const nextTurn = createTurns();

/** Rows of one write. More rows a write cost less each, but hold up other work of this thread for longer. */
const writeRows = 1_000;
/** Rows of all imports between two turns of the event loop. */
const turnRows = 100;
/**
 * Rows of one timestamp at most, and the time after which it is too old. A list by time has one entry for each time.
 */
const stampRows = 500;
const stampMs = 1_000;
const maxWritesInFlight = 3;
/** Lookups of geometry at the same time. */
const maxLookups = 8;
const maxAttempts = 10;

/** The file has more rows than an import may have. */
export class TooManyRows extends Error {}

interface PlannedRow {
  readonly source: SourceRow;
  readonly row: ReadRow;
  readonly action: RowAction;
  /** Fields of an update that differ; only a dry run asks. */
  readonly changed: readonly string[];
  readonly record: ImportedRecord;
  readonly change: ConfigurationChange;
}

/** Returns the outcome's error as a problem of a column. */
const problemOf = ({ error }: Outcome<unknown> & { ok: false }): RowProblem => ({
  column: error.param ?? 'row',
  rule: error.rule ?? error.message,
  code: error.code,
});

/** Applies all rows. Rejects with BrokenSource, TooManyRows, the signal's reason, or the error of a write. */
export async function applyRows(parts: EngineParts, request: EngineRequest, sink: ImportSink): Promise<ImportProgress> {
  const run = new Run(parts, request, sink);
  try {
    for await (const batch of request.batches) await run.add(batch);
  } catch (error) {
    // The rows before the fault count.
    await run.finish();
    throw error;
  }
  return run.finish();
}

class Run {
  readonly #parts: EngineParts;
  readonly #request: EngineRequest;
  readonly #sink: ImportSink;
  readonly #seen = new SeenIds();
  readonly #writes = new Set<Promise<void>>();
  readonly #counts = { rows: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 };
  #planned: PlannedRow[] = [];
  #header: readonly string[] | undefined;
  #bytesRead = 0;
  #lastLine = 0;
  #failure: { readonly error: unknown } | undefined;
  #stamp = { timeMs: 0, rows: stampRows, takenMs: 0 };

  constructor(parts: EngineParts, request: EngineRequest, sink: ImportSink) {
    this.#parts = parts;
    this.#request = request;
    this.#sink = sink;
  }

  get progress(): ImportProgress {
    return { ...this.#counts, bytesRead: this.#bytesRead, lastLine: this.#lastLine };
  }

  async add({ rows, header, bytesRead }: RowBatch): Promise<void> {
    this.#header = header;
    for (let from = 0; from < rows.length; from += turnRows) {
      this.#request.signal?.throwIfAborted();
      await this.#decide(rows.slice(from, from + turnRows));
      if (this.#planned.length >= writeRows) await this.#write();
      await nextTurn();
      if (this.#failure) throw this.#failure.error;
    }
    this.#bytesRead = bytesRead;
    // A dry run and a file without changes write nothing, but their progress counts.
    if (this.#planned.length === 0 && rows.length > 0) await this.#write();
  }

  /** Writes what is left, and waits for all writes. */
  async finish(): Promise<ImportProgress> {
    await this.#write();
    await Promise.all(this.#writes);
    if (this.#failure) throw this.#failure.error;
    return this.progress;
  }

  async #decide(rows: readonly SourceRow[]): Promise<void> {
    const read = await this.#read(rows);
    const nowMs = this.#timestamp(rows.length);
    for (const [index, source] of rows.entries()) {
      if (this.#counts.rows === this.#request.maxRows) throw new TooManyRows();
      this.#counts.rows += 1;
      const outcome = read[index]!;
      if (outcome.ok) this.#plan(source, outcome.value, nowMs);
      else this.#reject(source, outcome.problem);
      this.#lastLine = source.line;
    }
  }

  /** Returns the time of the next rows, which many share. */
  #timestamp(rows: number): number {
    const now = performance.now();
    if (this.#stamp.rows + rows > stampRows || now - this.#stamp.takenMs > stampMs)
      this.#stamp = { timeMs: this.#parts.writer.nextTimestamp(), rows: 0, takenMs: now };
    this.#stamp.rows += rows;
    return this.#stamp.timeMs;
  }

  /** Reads rows in order. Lookups of geometry run side by side. */
  async #read(rows: readonly SourceRow[]) {
    const lookups = new Set<Promise<unknown>>();
    const results: ({ ok: true; value: ReadRow } | { ok: false; problem: RowProblem })[] = new Array(rows.length);
    const settle = (index: number, outcome: Outcome<ReadRow>): void => {
      results[index] = outcome.ok ? outcome : { ok: false, problem: problemOf(outcome) };
    };
    for (const [index, { content }] of rows.entries()) {
      if ('problem' in content) {
        results[index] = { ok: false, problem: content.problem };
        continue;
      }
      const outcome = this.#request.resource.read(content.fields);
      if (!(outcome instanceof Promise)) {
        settle(index, outcome);
        continue;
      }
      const lookup: Promise<void> = outcome.then((found) => {
        settle(index, found);
        lookups.delete(lookup);
      });
      lookups.add(lookup);
      while (lookups.size >= maxLookups) await Promise.race(lookups);
    }
    await Promise.all(lookups);
    return results;
  }

  #reject(source: SourceRow, problem: RowProblem): void {
    this.#counts.rejected += 1;
    this.#sink.rejected(source, problem, this.#header);
  }

  #plan(source: SourceRow, row: ReadRow, nowMs: number): void {
    const earlier = this.#seen.add(row.id, source.line);
    if (earlier !== undefined) {
      const named = `${this.#request.unit} ${earlier}`;
      const isPaired = row.tag !== null && row.externalId !== null;
      const rule = isPaired
        ? `repeats the tag and externalId of ${named}, which counts; name each pair once`
        : `transmits the same as ${named}, which counts; name each beacon once`;
      this.#reject(source, { column: isPaired ? 'externalId' : 'row', rule });
      return;
    }
    const planned = this.#compared(source, row, nowMs);
    this.#counts[planned.action] += 1;
    this.#sink.decided?.(source.line, planned.action, row, planned.changed);
    if (planned.action !== 'unchanged' && !this.#request.isDryRun) this.#planned.push(planned);
  }

  /** Compares a row with the record that it names, as this node knows it. */
  #compared(source: SourceRow, row: ReadRow, nowMs: number): PlannedRow {
    const { resource, isDryRun } = this.#request;
    const { kind } = resource;
    const existing = row.existing();
    const basesNow = () => this.#parts.configuration.bases(kind, row.id);
    const basesOfNew = existing === undefined ? basesNow() : undefined;
    const record = row.record(existing, this.#timeAfter(existing, basesOfNew, row.id, nowMs));
    const action = existing === undefined ? 'created' : isUnchanged(existing, record) ? 'unchanged' : 'updated';
    const changed = isDryRun && action === 'updated' ? changedFields(kind, existing!, record) : [];
    const bases = basesOfNew ?? (action === 'unchanged' ? [] : basesNow());
    return {
      source,
      row,
      action,
      changed,
      record,
      change: { kind, id: row.id, record, bases, before: existing ?? null },
    };
  }

  /**
   * Returns a time later than what the row replaces, which may be newer than the time that rows share. A record that
   * was deleted may have that time: a record of the same time would count as the same, with its visits.
   */
  #timeAfter(
    existing: ImportedRecord | undefined,
    bases: readonly Base[] | undefined,
    id: string,
    sharedMs: number,
  ): number {
    if (existing !== undefined) return Math.max(sharedMs, existing.updatedAt + 1);
    // Without a revision nothing was deleted.
    if (bases?.[0] === 'absent') return sharedMs;
    const { configuration, writer } = this.#parts;
    const deletedAtMs = configuration.revisionOf(this.#request.resource.kind, id)?.deletedAtMs ?? null;
    return deletedAtMs !== null && deletedAtMs >= sharedMs ? writer.nextTimestamp() : sharedMs;
  }

  /** Starts to write the planned rows. Resolves when another write may follow. */
  async #write(): Promise<void> {
    const planned = this.#planned;
    this.#planned = [];
    // A list by time must not show only some of the records of one time.
    this.#stamp.rows = stampRows;
    const together = this.#sink.checkpoint(this.progress, planned.length === 0);
    if (planned.length + together.length === 0 || this.#failure) return;
    const write: Promise<void> = this.#written(planned, together)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
    while (this.#writes.size >= maxWritesInFlight) await Promise.race(this.#writes);
  }

  /** Writes rows. Rows that another edit preceded are compared and written again. */
  async #written(planned: readonly PlannedRow[], together: readonly ConfigurationChange[]): Promise<void> {
    const { writer } = this.#parts;
    let rows = planned;
    for (let attempt = 1, others = together; rows.length + others.length > 0; attempt++, others = []) {
      const outcomes = await this.#persistently([...rows.map(({ change }) => change), ...others]);
      const refused = rows.filter((_, index) => outcomes[index]?.kind === 'refused');
      if (refused.length === 0) return;
      await writer.catchUp();
      rows = refused.flatMap(({ source, row, action, record }) => {
        // A write whose answer was lost. Another edit may have the same time.
        const existing = row.existing();
        if (existing?.updatedAt === record.updatedAt && isUnchanged(existing, record)) return [];
        const again = this.#compared(source, row, writer.nextTimestamp());
        this.#counts[action] -= 1;
        if (attempt < maxAttempts) {
          this.#counts[again.action] += 1;
          return again.action === 'unchanged' ? [] : [again];
        }
        this.#reject(source, { column: 'row', rule: 'other edits of this record keep coming first; try again' });
        return [];
      });
    }
  }

  /** Writes. Waits and repeats while the log is overloaded or unreachable: a repeated edit is applied once. */
  #persistently(changes: readonly ConfigurationChange[]): Promise<readonly EditOutcome[]> {
    const isFinal = (error: unknown): boolean => !isPortError(error) || error.code === 'storage_full';
    return retried(() => this.#parts.writer.write(changes), { isFinal, signal: this.#request.signal });
  }
}

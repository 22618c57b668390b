/**
 * Runs one import: reads the file, applies its rows and keeps the record of the import up to date.
 *
 * Input: a file as bytes. Output: the import's record, which says what became of it. The record is written together
 * with the rows, so that after a crash it names the last line that was applied.
 */
import { createReadStream } from 'node:fs';
import type { RawFields } from '../http/fields/reader.js';
import { unknownField } from '../http/fields/table.js';
import type {
  ConfigurationChange,
  ConfigurationReader,
  ConfigurationWriter,
  Scope,
} from '../pipeline/catalog/types.js';
import { isPortError } from '../pipeline/errors.js';
import { createDeferred } from '../schemas/deferred.js';
import { hasElapsed } from '../schemas/durations.js';
import { ApiError } from '../schemas/errors.js';
import type { ImportFailure, ImportFormat, ImportRecord, ImportRequester } from '../schemas/json/import.js';
import { readHeader } from './columns.js';
import { csvLine } from './csv-cells.js';
import { applyRows, type ImportProgress, type ImportSink, type RowAction, TooManyRows } from './engine.js';
import { deletedFiles, FileWriter, rejectedHeader, rejectedLine, shownValue } from './files.js';
import { csvRows } from './formats/csv.js';
import { geojsonRows } from './formats/geojson.js';
import { ndjsonRows } from './formats/ndjson.js';
import { type ImportedKind, type ImportedResource, type ReadRow, type ResourceParts, resourceOf } from './resources.js';
import { BrokenSource, type RowBatch, type RowProblem, type SourceRow } from './source.js';

/** One file to import. `source` is read once. */
export interface ImportRequest {
  readonly scope: Scope;
  readonly resource: ImportedKind;
  /** The file, or its bytes. It is read as fast as rows are applied. */
  readonly source: AsyncIterable<Uint8Array> | { readonly path: string };
  readonly format: ImportFormat;
  readonly isDryRun?: boolean;
  /** Interrupts the import between two rows. */
  readonly signal?: AbortSignal;
  /** Called when the progress changes, at most once per batch of rows. */
  readonly onProgress?: (record: ImportRecord) => void;
  readonly requestedBy: ImportRequester;
  readonly fileName?: string | null;
  readonly bytesTotal?: number | null;
}

/** Limits of imports. A file with more rows fails, and its first rows stay applied. */
export interface ImportBounds {
  /** Of one file. */
  readonly maxRows: number;
  /** Imports that this node runs at the same time, of different projects. */
  readonly maxRunning: number;
  /** Finished imports that are remembered, per resource and environment. */
  readonly maxRemembered: number;
  /** Of these the newest keep their files. */
  readonly maxWithFiles: number;
  /** Limit of one file of bad rows. */
  readonly maxFileCharacters: number;
}

/** Least time between two records of progress that are written without rows. */
const recordEveryMs = 1_000;
const maxListed = 100;

/** Returns the record of an import that has read nothing yet. */
export function firstRecord(id: string, request: ImportRequest, nowMs: number): ImportRecord {
  const { scope, resource, format, isDryRun = false, requestedBy, fileName = null, bytesTotal = null } = request;
  return {
    _id: id,
    project: scope.project,
    environment: scope.environment,
    createdAt: nowMs,
    updatedAt: nowMs,
    resource: `${resource}s`,
    format,
    fileName,
    requestedBy,
    isDryRun,
    status: 'running',
    bytesTotal,
    bytesRead: 0,
    rows: 0,
    created: 0,
    updated: 0,
    unchanged: 0,
    rejected: 0,
    lastLine: 0,
    failure: null,
    finishedAt: null,
    files: { rejected: { parts: 0, isCut: false }, planned: { parts: 0, isCut: false } },
    rejections: [],
    planned: [],
  };
}

/** An import while it runs, in this thread or in another. */
export interface RunningImport {
  /** The import as of now. */
  readonly record: ImportRecord;
  /** Resolves when the header was accepted and rows are read. Never resolves for a file that is refused before. */
  readonly underWay: Promise<void>;
  /** Resolves when `run` has ended. */
  readonly ended: Promise<void>;
  /** Resolves with the record of the finished import: `completed`, `failed` with `failure`, or `interrupted`. */
  run(): Promise<ImportRecord>;
}

interface ExecutionParts extends ResourceParts {
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  readonly clock: () => number;
  readonly bounds: ImportBounds;
}

/** An import in this thread. */
export class Execution implements ImportSink, RunningImport {
  readonly #underWay = createDeferred();
  readonly #ended = createDeferred();
  readonly underWay = this.#underWay.promise;
  readonly ended = this.#ended.promise;
  readonly #parts: ExecutionParts;
  readonly #request: ImportRequest;
  readonly #signal: AbortSignal;
  readonly #resource: ImportedResource;
  readonly #files: Readonly<Record<'rejected' | 'planned', FileWriter>>;
  readonly #rejections: ImportRecord['rejections'] = [];
  readonly #planned: ImportRecord['planned'] = [];
  #record: ImportRecord;
  #recordedAtMs: number;
  #hasRejectedHeader = false;

  constructor(parts: ExecutionParts, first: ImportRecord, request: ImportRequest, closing: AbortSignal) {
    this.#parts = parts;
    this.#request = request;
    this.#signal = request.signal ? AbortSignal.any([request.signal, closing]) : closing;
    const { scope, resource, isDryRun = false } = request;
    const { bounds } = parts;
    this.#resource = resourceOf(resource, parts, scope);
    this.#recordedAtMs = first.createdAt;
    this.#record = first;
    this.#files = {
      rejected: new FileWriter(this.#record, 'rejected', bounds.maxFileCharacters),
      planned: new FileWriter(this.#record, 'planned', bounds.maxFileCharacters),
    };
    if (isDryRun) this.#files.planned.add(csvLine(['line', 'action', 'tag', 'externalId', 'changed']));
  }

  /** The import as of now. */
  get record(): ImportRecord {
    return { ...this.#record, rejections: [...this.#rejections], planned: [...this.#planned] };
  }

  async run(): Promise<ImportRecord> {
    const { writer } = this.#parts;
    try {
      await writer.catchUp();
      await writer.write([this.#head()]);
      return await this.#finish(await this.#apply());
    } finally {
      this.#ended.resolve();
    }
  }

  /** Applies the file. Returns how it ended. */
  async #apply(): Promise<Pick<ImportRecord, 'status' | 'failure'>> {
    const { configuration, writer, bounds } = this.#parts;
    const { isDryRun = false } = this.#request;
    const request = {
      resource: this.#resource,
      batches: this.#batches(),
      isDryRun,
      maxRows: bounds.maxRows,
      unit: this.#request.format === 'geojson' ? 'feature' : 'line',
      signal: this.#signal,
    };
    try {
      this.#advance(await applyRows({ configuration, writer }, request, this));
      return { status: 'completed', failure: null };
    } catch (error) {
      return this.#ending(error);
    }
  }

  #ending(error: unknown): Pick<ImportRecord, 'status' | 'failure'> {
    const failed = (failure: ImportFailure) => ({ status: 'failed' as const, failure });
    if (this.#signal.aborted) return { status: 'interrupted', failure: null };
    if (error instanceof BrokenSource) return failed({ line: error.line, ...error.problem });
    const { lastLine } = this.#record;
    if (error instanceof TooManyRows) {
      return failed({ line: lastLine, column: 'file', rule: `has more than ${this.#parts.bounds.maxRows} rows` });
    }
    if (isPortError(error) || error instanceof ApiError)
      return failed({ line: lastLine, column: 'import', rule: `ended: ${error.message}` });
    throw error;
  }

  /** Records the end, and forgets imports that are too old. */
  async #finish(ending: Pick<ImportRecord, 'status' | 'failure'>): Promise<ImportRecord> {
    const { writer } = this.#parts;
    const files = this.#takeFiles(true);
    const nowMs = writer.nextTimestamp();
    const record = { ...this.record, ...ending, updatedAt: nowMs, finishedAt: nowMs };
    await writer.write([...files, { kind: 'import', id: record._id, record }]);
    // A client that sees the end can read the files.
    this.#record = record;
    await writer.write(this.#forgotten());
    this.#request.onProgress?.(record);
    return record;
  }

  /** Returns the changes that delete the oldest imports, and the files of the older ones. */
  #forgotten(): ConfigurationChange[] {
    const { configuration, bounds } = this.#parts;
    const { maxRemembered, maxWithFiles } = bounds;
    const { resource } = this.#record;
    const { items } = configuration.imports.list({
      ...this.#request.scope,
      resource,
      limit: maxRemembered + maxListed,
    });
    const changes: ConfigurationChange[] = items.slice(maxWithFiles).flatMap(deletedFiles);
    for (const record of items.slice(maxRemembered)) changes.push({ kind: 'import', id: record._id, record: null });
    const none = { parts: 0, isCut: false };
    for (const record of items.slice(maxWithFiles, maxRemembered)) {
      if (record.files.rejected.parts + record.files.planned.parts === 0) continue;
      changes.push({
        kind: 'import',
        id: record._id,
        record: { ...record, files: { rejected: none, planned: none } },
      });
    }
    return changes;
  }

  async *#batches(): AsyncGenerator<RowBatch> {
    const { source: given } = this.#request;
    const source = 'path' in given ? createReadStream(given.path) : given;
    const { table } = this.#resource;
    const findUnknown = (fields: RawFields): RowProblem | undefined => {
      const problem = unknownField(table, fields, this.#resource.answered);
      return problem && { column: problem.param, rule: problem.rule };
    };
    const batches = {
      csv: () => csvRows(source, (names, line) => readHeader(table, names, line)),
      geojson: () => geojsonRows(source, { findUnknown }),
      ndjson: () => ndjsonRows(source, { findUnknown }),
    }[this.#request.format]();
    for await (const batch of batches) {
      if (batch.header !== undefined || batch.rows.length > 0) this.#underWay.resolve();
      yield batch;
    }
  }

  rejected(row: SourceRow, problem: RowProblem, header: readonly string[] | undefined): void {
    const { column, rule } = problem;
    const { table } = this.#resource;
    const { rejected } = this.#files;
    if (!this.#hasRejectedHeader) rejected.add(rejectedHeader(header, table));
    this.#hasRejectedHeader = true;
    // A line has all columns of the header, however short its row is.
    if (!rejected.isCut) rejected.add(rejectedLine(row, problem, header, table));
    if (this.#rejections.length < maxListed)
      this.#rejections.push({ line: row.line, column, value: shownValue(row, column), rule });
  }

  decided(line: number, action: RowAction, { tag, externalId }: ReadRow, changed: readonly string[]): void {
    if (!this.#request.isDryRun) return;
    this.#files.planned.add(csvLine([`${line}`, action, tag ?? '', externalId ?? '', changed.join(' ')]));
    if (this.#planned.length < maxListed)
      this.#planned.push({ line, action, tag, externalId, ...(action === 'updated' && { changed: [...changed] }) });
  }

  checkpoint(progress: ImportProgress, isAlone: boolean): readonly ConfigurationChange[] {
    this.#advance(progress);
    this.#request.onProgress?.(this.record);
    const files = this.#takeFiles(false);
    const nowMs = this.#parts.clock();
    if (isAlone && files.length === 0 && !hasElapsed(recordEveryMs, this.#recordedAtMs, nowMs)) return [];
    this.#recordedAtMs = nowMs;
    return [...files, this.#head()];
  }

  #advance(progress: ImportProgress): void {
    this.#record = { ...this.#record, ...progress };
  }

  #takeFiles(isEnd: boolean): ConfigurationChange[] {
    const nowMs = this.#parts.clock();
    const { rejected, planned } = this.#files;
    const isPlanned = this.#request.isDryRun === true;
    const changes = [...rejected.take(isEnd, nowMs), ...(isPlanned ? planned.take(isEnd, nowMs) : [])];
    this.#record = { ...this.#record, files: { rejected: rejected.state, planned: planned.state } };
    return changes;
  }

  /** The change that records the progress. The lists follow at the end, because each would be written many times. */
  #head(): ConfigurationChange {
    this.#record = { ...this.#record, updatedAt: Math.max(this.#record.updatedAt, this.#parts.clock()) };
    return { kind: 'import', id: this.#record._id, record: this.#record };
  }
}

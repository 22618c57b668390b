/**
 * Runs imports: one at a time per project on all nodes, recorded in the history while they run and afterwards.
 *
 * Input: a file as bytes. Output: the import's record, which says what became of it. The record is written together
 * with the rows, so that after a crash it names the last line that was applied.
 */
import { setInterval } from 'node:timers';
import type { GeometrySources } from '../api/dependencies.js';
import type { RawFields } from '../http/fields/reader.js';
import { unknownField } from '../http/fields/table.js';
import type {
  ConfigurationChange,
  ConfigurationReader,
  ConfigurationWriter,
  Scope,
} from '../pipeline/catalog/types.js';
import { isPortError } from '../pipeline/errors.js';
import type { ExpiringValues } from '../pipeline/ports.js';
import { ApiError } from '../schemas/errors.js';
import { freshId } from '../schemas/ids.js';
import type { ImportFailure, ImportRecord, ImportRequester, ImportStatus } from '../schemas/json/import.js';
import { readHeader } from './columns.js';
import { csvLine } from './csv-cells.js';
import { applyRows, type ImportProgress, type ImportSink, TooManyRows } from './engine.js';
import { deletedFiles, FileWriter, rejectedLine, shownValue } from './files.js';
import { csvRows } from './formats/csv.js';
import { geojsonRows } from './formats/geojson.js';
import { ndjsonRows } from './formats/ndjson.js';
import { type ImportedKind, type ImportedResource, resourceOf } from './resources.js';
import { BrokenSource, type ImportFormat, type RowBatch, type RowProblem } from './source.js';

export interface ImportRequest {
  readonly scope: Scope;
  readonly resource: ImportedKind;
  /** The bytes of the file. It is read as fast as rows are applied. */
  readonly source: AsyncIterable<Uint8Array>;
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

/** The record of the finished import: `completed`, `failed` with `failure`, or `interrupted`. */
export type ImportResult = ImportRecord;

/** An import that was admitted. */
export interface StartedImport {
  readonly id: string;
  /** Resolves at the end; rejects only if the record could not be written. */
  readonly finished: Promise<ImportResult>;
  /** Resolves when the header was accepted and rows are read, or with `finished`. */
  readonly underWay: Promise<void>;
}

/** The right of a project to import. Others of the project wait until it is released. */
export interface ImportPermit {
  readonly id: string;
  readonly scope: Scope;
  release(): Promise<void>;
}

export interface Importer {
  /**
   * Imports a file. Resolves with the import's record when it has ended, also if the file is broken. Throws
   * `import_running` while another import of the project runs on any node, and `overloaded` if this node runs many.
   */
  importRecords(request: ImportRequest): Promise<ImportResult>;
  /** Reserves the project's place, for callers that must receive the file first. Throws like `importRecords`. */
  admit(scope: Scope): Promise<ImportPermit>;
  /** Starts an admitted import. Releases the permit when it ends. */
  start(permit: ImportPermit, request: ImportRequest): Promise<StartedImport>;
  /** Returns an import as of now, with the progress of one that this node runs. */
  find(scope: Scope, id: string): ImportRecord | undefined;
  /** Returns the status as of now: a running import whose process has ended is `interrupted`. */
  statusOf(record: ImportRecord): Promise<ImportStatus>;
  /** Interrupts the imports of this node and waits for their records. */
  close(): Promise<void>;
}

export interface ImporterParts {
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  readonly values: ExpiringValues;
  readonly geometrySources: GeometrySources;
  readonly clock: () => number;
  readonly bounds?: Partial<ImportBounds>;
}

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

export const defaultImportBounds: ImportBounds = {
  maxRows: 2_000_000,
  maxRunning: 4,
  maxRemembered: 100,
  maxWithFiles: 10,
  maxFileCharacters: 4_000_000,
};

/** Time after which an import of a process that ended no longer counts as running. */
const leaseMs = 60_000;
const renewEveryMs = 15_000;
/** Least time between two records of progress that are written without rows. */
const recordEveryMs = 1_000;
const maxListed = 100;
const retryAfterS = 10;

const leaseKey = (project: string): string => `import/${project}`;

export function createImporter({ values, bounds: given, ...parts }: ImporterParts): Importer {
  const { configuration, clock } = parts;
  const bounds: ImportBounds = { ...defaultImportBounds, ...given };
  const running = new Map<string, Execution>();
  const admitted = new Set<string>();
  const closing = new AbortController();

  async function admit(scope: Scope): Promise<ImportPermit> {
    if (closing.signal.aborted) throw new ApiError('unavailable', 'the server is stopping', { retryAfterS });
    if (admitted.size >= bounds.maxRunning) {
      throw new ApiError('overloaded', `this server runs ${bounds.maxRunning} imports; try again later`, {
        retryAfterS,
      });
    }
    const id = freshId(clock());
    const key = leaseKey(scope.project);
    admitted.add(id);
    if (!(await taken(key, id))) {
      throw new ApiError('import_running', 'another import of this project is running; wait until it has ended', {
        retryAfterS,
      });
    }
    const renewal = setInterval(() => {
      // During an outage the next renewal follows; the lease outlasts several.
      values.put(key, id, leaseMs, { current: id }).catch(() => undefined);
    }, renewEveryMs);
    renewal.unref();
    return {
      id,
      scope,
      async release() {
        clearInterval(renewal);
        admitted.delete(id);
        // Without the store the lease expires by itself.
        await values.delete(key, { current: id }).catch(() => undefined);
      },
    };
  }

  async function taken(key: string, id: string): Promise<boolean> {
    let isTaken = false;
    try {
      isTaken = await values.put(key, id, leaseMs, { current: null });
    } finally {
      if (!isTaken) admitted.delete(id);
    }
    return isTaken;
  }

  async function start(permit: ImportPermit, request: ImportRequest): Promise<StartedImport> {
    const execution = new Execution({ ...parts, bounds }, permit.id, request, closing.signal);
    running.set(permit.id, execution);
    const finished = endOf(execution, permit);
    finished.catch(() => undefined);
    const underWay = Promise.race([execution.underWay, finished.then(() => undefined)]);
    underWay.catch(() => undefined);
    return { id: permit.id, finished, underWay };
  }

  async function endOf(execution: Execution, permit: ImportPermit): Promise<ImportResult> {
    try {
      return await execution.run();
    } finally {
      running.delete(permit.id);
      await permit.release();
    }
  }

  return {
    admit,
    start,
    async importRecords(request) {
      const permit = await admit(request.scope);
      return (await start(permit, request)).finished;
    },
    find(scope, id) {
      const own = running.get(id)?.record;
      if (own?.project === scope.project && own.environment === scope.environment) return own;
      return configuration.imports.find(scope, id);
    },
    async statusOf({ _id, project, status }) {
      if (status !== 'running' || running.has(_id)) return status;
      return (await values.get(leaseKey(project))) === _id ? 'running' : 'interrupted';
    },
    async close() {
      closing.abort(new Error('the server is stopping'));
      await Promise.allSettled(Array.from(running.values(), (execution) => execution.ended));
    },
  };
}

type ExecutionParts = Omit<ImporterParts, 'values' | 'bounds'> & { readonly bounds: ImportBounds };

/** One import while it runs. */
class Execution implements ImportSink {
  readonly underWay: Promise<void>;
  readonly ended: Promise<void>;
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
  #announce: () => void = () => {};
  #end: () => void = () => {};

  constructor(parts: ExecutionParts, id: string, request: ImportRequest, closing: AbortSignal) {
    this.#parts = parts;
    this.#request = request;
    this.#signal = request.signal ? AbortSignal.any([request.signal, closing]) : closing;
    const { scope, resource, format, isDryRun = false, requestedBy, fileName = null, bytesTotal = null } = request;
    const { writer, bounds } = parts;
    this.#resource = resourceOf(resource, parts, scope);
    const nowMs = writer.nextTimestamp();
    this.#recordedAtMs = nowMs;
    this.#record = {
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
    this.#files = {
      rejected: new FileWriter(this.#record, 'rejected', bounds.maxFileCharacters),
      planned: new FileWriter(this.#record, 'planned', bounds.maxFileCharacters),
    };
    if (isDryRun) this.#files.planned.add(csvLine(['line', 'action', 'tag', 'externalId']));
    this.underWay = new Promise((resolve) => {
      this.#announce = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** The import as of now. */
  get record(): ImportRecord {
    return { ...this.#record, rejections: [...this.#rejections], planned: [...this.#planned] };
  }

  async run(): Promise<ImportResult> {
    const { writer } = this.#parts;
    try {
      await writer.catchUp();
      await writer.write([this.#head()]);
      return await this.#finish(await this.#apply());
    } finally {
      this.#end();
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
  async #finish(ending: Pick<ImportRecord, 'status' | 'failure'>): Promise<ImportResult> {
    const { writer } = this.#parts;
    const files = this.#takeFiles(true);
    const nowMs = writer.nextTimestamp();
    const record = { ...this.record, ...ending, updatedAt: nowMs, finishedAt: nowMs };
    await writer.write([...files, { kind: 'import', id: record._id, record }]);
    // Whoever sees the end can read the files.
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
    const { source } = this.#request;
    const { table } = this.#resource;
    const findUnknown = (fields: RawFields): RowProblem | undefined => {
      const problem = unknownField(table, fields, this.#resource.answered);
      return problem && { column: problem.param, rule: problem.rule };
    };
    const batches = {
      csv: () => csvRows(source, (names, line) => readHeader(table, names, line)),
      geojson: () => geojsonRows(source, findUnknown),
      ndjson: () => ndjsonRows(source, findUnknown),
    }[this.#request.format]();
    for await (const batch of batches) {
      if (batch.header !== undefined || batch.rows.length > 0) this.#announce();
      yield batch;
    }
  }

  rejected(row: Parameters<ImportSink['rejected']>[0], ...[problem, header]: RejectedRest): void {
    const { column, rule } = problem;
    const { table } = this.#resource;
    const written = rejectedLine(row, problem, header, table);
    if (!this.#hasRejectedHeader) this.#files.rejected.add(written.header);
    this.#hasRejectedHeader = true;
    this.#files.rejected.add(written.line);
    if (this.#rejections.length < maxListed)
      this.#rejections.push({ line: row.line, column, value: shownValue(row, column), rule });
  }

  decided(...[line, action, { tag, externalId }]: Parameters<NonNullable<ImportSink['decided']>>): void {
    if (!this.#request.isDryRun) return;
    this.#files.planned.add(csvLine([`${line}`, action, tag ?? '', externalId ?? '']));
    if (this.#planned.length < maxListed) this.#planned.push({ line, action, tag, externalId });
  }

  checkpoint(progress: ImportProgress, isAlone: boolean): readonly ConfigurationChange[] {
    this.#advance(progress);
    this.#request.onProgress?.(this.record);
    const files = this.#takeFiles(false);
    const nowMs = this.#parts.clock();
    if (isAlone && files.length === 0 && nowMs - this.#recordedAtMs < recordEveryMs) return [];
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

type RejectedRest = Parameters<ImportSink['rejected']> extends [unknown, ...infer Rest] ? Rest : never;

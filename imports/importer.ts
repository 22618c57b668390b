/**
 * Runs imports: one at a time per project on all nodes. Files run in a thread of their own, if the node has one.
 */
import type { GeometrySources } from '../api/dependencies.js';
import { inScope } from '../pipeline/catalog/scope.js';
import { isProjectDeleted } from '../pipeline/catalog/store/tables/revisions.js';
import type { ConfigurationReader, ConfigurationWriter, Scope } from '../pipeline/catalog/types.js';
import type { HeldLeases } from '../pipeline/held-lease.js';
import type { ExpiringValues } from '../pipeline/ports.js';
import { ApiError } from '../schemas/errors.js';
import type { ImportRecord, ImportStatus } from '../schemas/json/import.js';
import { Execution, firstRecord, type ImportBounds, type ImportRequest, type RunningImport } from './execution.js';
import { createPermits, type ImportPermit } from './permits.js';
import { geometryResolver } from './resources.js';
import type { ImportThread } from './thread.js';

/** An import that was admitted. */
export interface StartedImport {
  readonly id: string;
  /** Resolves at the end; rejects only if the record could not be written. */
  readonly finished: Promise<ImportRecord>;
  /** Resolves when the header was accepted and rows are read, or with `finished`. */
  readonly underWay: Promise<void>;
}

/** The imports of one node. Every node reads their records. */
export interface Importer {
  /**
   * Imports a file. Resolves with the import's record when it has ended, also if the file is broken. Throws
   * `import_running` while another import of the project runs on any node, and `overloaded` if this node runs many.
   */
  importRecords(request: ImportRequest): Promise<ImportRecord>;
  /**
   * Throws like `admit` if an import could not start now. Reserves nothing: for callers that receive the file before it
   * is admitted, so that a file that would be refused is not sent.
   */
  check(scope: Scope): Promise<void>;
  /** Reserves the project's place, for a file that is complete. Throws like `importRecords`. */
  admit(scope: Scope): Promise<ImportPermit>;
  /** Starts an admitted import. Releases the permit when it ends, or cannot start. */
  start(permit: ImportPermit, request: ImportRequest): Promise<StartedImport>;
  /** Returns an import as of now, with the progress of one that this node runs. */
  find(scope: Scope, id: string): ImportRecord | undefined;
  /** Returns the status as of now: a running import whose process has ended is `interrupted`. */
  statusOf(record: ImportRecord): Promise<ImportStatus>;
  /** Asks the node that runs the import to interrupt it between two rows. Does nothing to one that has ended. */
  stop(scope: Scope, id: string): Promise<void>;
  /** Interrupts the imports of this node and waits for their records. */
  close(): Promise<void>;
}

/** What the imports of a node work with. */
export interface ImporterParts {
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  readonly values: ExpiringValues;
  readonly leases: HeldLeases;
  readonly geometrySources: GeometrySources;
  readonly clock: () => number;
  readonly bounds?: Partial<ImportBounds>;
  /** Runs large files. Default: this thread does. */
  readonly thread?: ImportThread;
  /** Gets each import of this node whose record says how it ended. */
  readonly onEnded?: ((record: ImportRecord) => void) | undefined;
}

/** The bounds of a node, unless its settings give others. */
export const defaultImportBounds: ImportBounds = {
  maxRows: 2_000_000,
  maxRunning: 4,
  maxRemembered: 100,
  maxWithFiles: 10,
  maxFileCharacters: 4_000_000,
};

/** A request to stop an import is kept for this long, until the node that runs it has seen it. */
const keepStopMs = 60_000;
const retryAfterS = 10;

/** Interval at which a node asks whether another one stops its import, and whether its project was deleted. */
const askEveryMs = 500;

const stopKey = (id: string): string => `import-stop/${id}`;

/** Creates the imports of one node. Closing them closes none of the parts. */
export function createImporter({ values, leases, thread, onEnded, bounds: given, ...parts }: ImporterParts): Importer {
  const { configuration, clock } = parts;
  const bounds: ImportBounds = { ...defaultImportBounds, ...given };
  const running = new Map<string, RunningImport>();
  const stops = new Map<string, AbortController>();
  const closing = new AbortController();
  const permits = createPermits({ leases, clock, maxRunning: bounds.maxRunning, closing: closing.signal });

  async function start(permit: ImportPermit, request: ImportRequest): Promise<StartedImport> {
    try {
      return begin(permit, request);
    } catch (error) {
      await permit.release();
      throw error;
    }
  }

  function begin(permit: ImportPermit, request: ImportRequest): StartedImport {
    const first = firstRecord(permit.id, request, parts.writer.nextTimestamp());
    const { signal, ...stopping } = stopSignal(permit, request.signal);
    const execution = executionOf(first, { ...request, signal });
    running.set(permit.id, execution);
    const finished = endOf(execution, permit).finally(stopping.end);
    finished.catch(() => undefined);
    const underWay = Promise.race([execution.underWay, finished.then(() => undefined)]);
    underWay.catch(() => undefined);
    return { id: permit.id, finished, underWay };
  }

  /**
   * Returns a signal that aborts when the lease is lost, or when a caller stops the import, on this node or on another,
   * or deletes its project.
   */
  function stopSignal({ id, scope, lost }: ImportPermit, given: AbortSignal | undefined) {
    const stop = new AbortController();
    stops.set(id, stop);
    const asking = setInterval(() => {
      if (isProjectDeleted(configuration, scope.project)) stop.abort();
      values.get(stopKey(id)).then(
        (value) => value !== undefined && stop.abort(),
        () => undefined,
      );
    }, askEveryMs);
    asking.unref();
    return {
      signal: AbortSignal.any([stop.signal, lost, ...(given ? [given] : [])]),
      end(): void {
        clearInterval(asking);
        stops.delete(id);
      },
    };
  }

  function executionOf(first: ImportRecord, request: ImportRequest): RunningImport {
    const inThread = thread?.take(first, request, closing.signal);
    const resolve = geometryResolver(parts);
    return inThread ?? new Execution({ ...parts, resolve, bounds }, first, request, closing.signal);
  }

  async function endOf(execution: RunningImport, permit: ImportPermit): Promise<ImportRecord> {
    try {
      const record = await execution.run();
      onEnded?.(record);
      return record;
    } finally {
      running.delete(permit.id);
      await permit.release();
    }
  }

  function find(scope: Scope, id: string): ImportRecord | undefined {
    return inScope(running.get(id)?.record, scope) ?? configuration.imports.find(scope, id);
  }

  return {
    check: permits.check,
    admit: permits.admit,
    start,
    find,
    async importRecords(request) {
      const permit = await permits.admit(request.scope);
      return (await start(permit, request)).finished;
    },
    async statusOf({ _id, project, status }) {
      if (status !== 'running' || running.has(_id)) return status;
      return (await permits.isHeld(project, _id)) ? 'running' : 'interrupted';
    },
    async stop(scope, id) {
      if (find(scope, id)?.status !== 'running') return;
      const own = stops.get(id);
      if (own) own.abort();
      else await values.put(stopKey(id), 'asked', keepStopMs);
    },
    async close() {
      closing.abort(new ApiError('unavailable', 'the server is stopping', { retryAfterS }));
      await Promise.allSettled(Array.from(running.values(), (execution) => execution.ended));
    },
  };
}

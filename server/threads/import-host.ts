/** Starts the import thread with the first large file, and serves what it needs. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { remote, serve } from '../../backends/embedded/remote.js';
import type { ImportBounds, ImportRequest, RunningImport } from '../../imports/execution.js';
import type { ResolveGeometry } from '../../imports/resources.js';
import {
  copiedOutcome,
  type FileRequest,
  type ImportThread,
  type ThreadCalls,
  type ThreadServices,
  writePacked,
} from '../../imports/thread.js';
import type { EncodedWriter } from '../../pipeline/catalog/types.js';
import { createDeferred } from '../../schemas/deferred.js';
import type { ImportRecord } from '../../schemas/json/import.js';
import { usableMemoryBytes, youngGenerationMib } from '../memory.js';

/** The data of the worker. */
export interface ImportWorkerStart {
  readonly readModelFolder: string;
  /** Receives calls. */
  readonly calls: MessagePort;
  /** Answers its calls. */
  readonly services: MessagePort;
}

/**
 * The rows of writes in flight are young objects that the collector copies again and again. With 96 MiB for them
 * instead of 48 it runs half as often, and all threads together take 6 % less time a row.
 */
const bestYoungGenerationMib = 96;

/** Smaller files are applied sooner than the thread starts. */
const leastThreadBytes = 2 ** 20;

interface ImportHostParts {
  readonly readModelFolder: string;
  readonly writer: EncodedWriter;
  readonly resolve: ResolveGeometry;
  readonly onFailure: (error: Error) => void;
}

/** An import in the thread, as the main thread sees it. */
class ThreadImport implements RunningImport {
  readonly #underWay = createDeferred();
  readonly #ended = createDeferred();
  readonly underWay = this.#underWay.promise;
  readonly ended = this.#ended.promise;

  constructor(
    public record: ImportRecord,
    private readonly request: FileRequest,
    private readonly report: ImportRequest['onProgress'],
    private readonly start: (request: FileRequest) => Promise<ImportRecord>,
  ) {}

  announce(): void {
    this.#underWay.resolve();
  }

  progress(record: ImportRecord): void {
    this.record = record;
    this.report?.(record);
  }

  async run(): Promise<ImportRecord> {
    try {
      this.progress(await this.start(this.request));
      return this.record;
    } finally {
      this.#ended.resolve();
    }
  }
}

/**
 * Creates the thread's host. The thread stays for later imports, and ends with the process. If it fails, its imports
 * reject as `unavailable`, and the next one starts another.
 */
export function createImportThread(
  { readModelFolder, writer, resolve, onFailure }: ImportHostParts,
  bounds: ImportBounds,
) {
  const running = new Map<string, ThreadImport>();
  let calls: ThreadCalls | undefined;

  const services: ThreadServices = {
    write: (changes) => writePacked(writer, changes),
    catchUp: () => writer.catchUp(),
    resolve: async (scope, given, id) => copiedOutcome(await resolve(scope, given, id)),
    underWay: async (id) => running.get(id)?.announce(),
    progress: async (record) => running.get(record._id)?.progress(record),
  };

  function start(): ThreadCalls {
    const [toThread, toMain] = [new MessageChannel(), new MessageChannel()];
    const worker = new Worker(new URL('./import-worker.js', import.meta.url), {
      workerData: { readModelFolder, calls: toThread.port2, services: toMain.port2 } satisfies ImportWorkerStart,
      transferList: [toThread.port2, toMain.port2],
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMib(usableMemoryBytes(), bestYoungGenerationMib) },
    });
    worker.unref();
    serve(toMain.port1, services);
    toMain.port1.unref();
    const started = remote<ThreadCalls>(toThread.port1);
    worker.on('error', onFailure);
    worker.on('exit', () => {
      if (calls === started) calls = undefined;
    });
    return started;
  }

  async function run(first: ImportRecord, request: FileRequest, signal: AbortSignal): Promise<ImportRecord> {
    calls ??= start();
    const interrupt = (): void => {
      calls?.interrupt(first._id).catch(() => undefined);
    };
    signal.addEventListener('abort', interrupt);
    try {
      const finished = calls.run(first, request, bounds);
      if (signal.aborted) interrupt();
      return await finished;
    } finally {
      signal.removeEventListener('abort', interrupt);
      running.delete(first._id);
    }
  }

  return {
    take(first, request, closing) {
      const { source, signal: given, onProgress, ...rest } = request;
      if (!('path' in source) || (request.bytesTotal ?? 0) < leastThreadBytes) return undefined;
      const signal = given ? AbortSignal.any([given, closing]) : closing;
      const execution = new ThreadImport(first, { ...rest, source }, onProgress, (file) => run(first, file, signal));
      running.set(first._id, execution);
      return execution;
    },
  } satisfies ImportThread;
}

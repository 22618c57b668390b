/** Starts worker threads of a node and reports their failures. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { remote } from '../../backends/embedded/remote.js';
import type { SharedSpace } from '../../backends/embedded/space.js';
import { createFailure } from '../../pipeline/failure.js';
import type { AppliedOffsets } from '../backlog.js';
import type { Configuration } from '../config/schema.js';
import { usableMemoryBytes, youngGenerationMib } from '../memory.js';
import type { Part } from '../node.js';

/** What all workers of a node are given. */
export interface WorkerData {
  readonly configuration: Configuration;
  readonly applied: AppliedOffsets;
  readonly space: SharedSpace;
}

/** The data of a new worker. */
export interface WorkerStart extends WorkerData {
  /** Receives calls. */
  readonly calls: MessagePort;
  /** Sends replies to waiting requests. */
  readonly replies: MessagePort;
}

/** The calls that every worker answers. */
export interface WorkerCalls {
  /** Resolves when the worker is running; rejects when it can't start. */
  ready(): Promise<void>;
  /** Returns the worker's metrics as JSON, for aggregation in the main thread. */
  metrics(): Promise<object[]>;
  /** Finishes batches in flight and closes everything. */
  stop(): Promise<void>;
}

interface WorkerHost<Calls> extends Part {
  readonly calls: Calls;
  readonly replies: MessagePort;
  /** Rejects when the thread fails or exits. */
  readonly done: Promise<never>;
  /**
   * Stops the worker's tasks. The idle thread ends with the process: terminating it while the native engine of another
   * thread is busy (an insert into chDB) has blocked that engine forever.
   */
  stop(): Promise<void>;
}

/**
 * Each location replaces the state of its device. In a large young generation most old states die before they are
 * promoted, and collecting them costs nothing. With V8's default of 48 MiB most are promoted. Evaluation is a seventh
 * faster.
 */
const bestYoungGenerationMib = 192;

/** Starts a worker. `module` is its compiled file, relative to this one. */
export function startWorker<
  Calls extends { [name in keyof Calls]: (...args: never[]) => Promise<unknown> } & WorkerCalls,
>(module: string, given: WorkerData): WorkerHost<Calls> {
  const calls = new MessageChannel();
  const replies = new MessageChannel();
  const worker = new Worker(new URL(module, import.meta.url), {
    workerData: { ...given, calls: calls.port2, replies: replies.port2 } satisfies WorkerStart,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMib(usableMemoryBytes(), bestYoungGenerationMib) },
    transferList: [calls.port2, replies.port2],
  });
  const { failed, fail } = createFailure();
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`${module} ended with code ${code}`)));
  const proxy = remote<Calls>(calls.port1);
  return { calls: proxy, replies: replies.port1, done: failed, stop: () => proxy.stop() };
}

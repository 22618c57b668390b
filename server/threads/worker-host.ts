/** Starting a worker thread of the node and hearing of its end. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { remote } from '../../backends/embedded/remote.js';
import type { SharedSpace } from '../../backends/embedded/space.js';
import type { AppliedOffsets } from '../backlog.js';
import type { Configuration } from '../config/schema.js';

/** What a worker is given at its start. */
export interface WorkerStart {
  readonly configuration: Configuration;
  readonly applied: AppliedOffsets;
  readonly space: SharedSpace;
  /** Calls come in here. */
  readonly calls: MessagePort;
  /** Replies to waiting requests go out here. */
  readonly replies: MessagePort;
}

/** What every worker answers. */
export interface WorkerCalls {
  /** Resolves when it does its work; rejects when it can't start. */
  ready(): Promise<void>;
  /** Its registry as JSON, to be put together with the main thread's. */
  metrics(): Promise<object[]>;
  /** Finishes what is in flight and closes what it opened. */
  stop(): Promise<void>;
}

export interface WorkerHost<Calls> {
  readonly calls: Calls;
  readonly replies: MessagePort;
  /** Rejects when the thread fails or ends by itself. */
  readonly failed: Promise<never>;
  /**
   * Lets it finish and close what it opened. The idle thread then ends with the process: ending one by itself while
   * another thread's native engine works (an insert into chDB) was seen to block that engine for ever.
   */
  stop(): Promise<void>;
}

/**
 * The state of a device is replaced with each of its locations. Where that happens before the young generation is full,
 * the old one dies there, for nothing; with V8's default of 48 MiB most are moved to the old generation first.
 * Evaluation alone gains a seventh by it.
 */
const maxYoungGenerationSizeMb = 192;

/** `module` is the worker's compiled file beside this one. */
export function startWorker<
  Calls extends { [name in keyof Calls]: (...args: never[]) => Promise<unknown> } & WorkerCalls,
>(module: string, given: Pick<WorkerStart, 'configuration' | 'applied' | 'space'>): WorkerHost<Calls> {
  const calls = new MessageChannel();
  const replies = new MessageChannel();
  const worker = new Worker(new URL(module, import.meta.url), {
    workerData: { ...given, calls: calls.port2, replies: replies.port2 } satisfies WorkerStart,
    resourceLimits: { maxYoungGenerationSizeMb },
    transferList: [calls.port2, replies.port2],
  });
  const failed = new Promise<never>((_, reject) => {
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`${module} ended with code ${code}`)));
  });
  failed.catch(() => {});
  const proxy = remote<Calls>(calls.port1);
  return { calls: proxy, replies: replies.port1, failed, stop: () => proxy.stop() };
}

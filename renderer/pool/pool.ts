/**
 * A pool of processes that do native work for maps, with a queue of waiting jobs.
 *
 * Input: work with its owner and estimated cost. Output: results. The pool uses processes instead of threads, because
 * native code cannot be interrupted, and a hang or crash must not affect other jobs. Terminating a thread was seen to
 * block a process that runs chDB. Owners share the processes equally by `fair-queue`, and every job is answered in
 * bounded time. Imports `schemas` and types of the renderer.
 */
import { LRUCache } from 'lru-cache';
import type { Job } from './child.js';
import { Overdue, overloaded } from './failed-job.js';
import { FairQueue } from './fair-queue.js';
import type { Work, Works } from './messages.js';
import { createProcesses, type ProcessesOptions } from './processes.js';

/** Bounds of a pool. */
export interface PoolOptions extends ProcessesOptions {
  /**
   * Maximum pixels of all waiting and running jobs. Beyond it, jobs of the owner with the most pixels are refused. A
   * single job is never too large.
   */
  readonly maxPixelsInFlight: number;
  /** Time from a job's arrival to its answer, including waiting and retries. */
  readonly answerTimeoutMs: number;
}

/** The owner and the cost of a job. */
export interface JobOptions {
  /** Owners share the processes equally. */
  readonly owner: string;
  /** Estimated processor time. */
  readonly costMs: number;
  /** Size of the result in memory. */
  readonly pixels: number;
  /** Aborts when nobody waits for the result any more. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of a job, and the processor time to charge its owner with. */
export interface Done<R> {
  readonly result: R;
  /** Measured processor time. */
  readonly processorMs: number;
}

interface Pool {
  /**
   * Rejects with ApiError `overloaded` past the bound, `unavailable` when it takes too long or there is no process;
   * with {@link Crash}; with the reason of the signal when it aborts while the work waits. Running work ends first.
   */
  run<W extends Work>(work: W, options: JobOptions): Promise<Done<Works[W['kind']]['result']>>;
  /** Starts a process before the first job needs it. */
  warm(): void;
  /** Ends the processes. Waiting and running jobs are rejected. */
  close(): Promise<void>;
}

/**
 * Cost above which a job is large. Large jobs never occupy all processes, so that small jobs need not wait for them.
 */
const largeMs = 150;
/** Bounds of an owner's ratio of measured to estimated cost, and the weight of the latest job. */
const slowness = { least: 0.25, most: 50, ofLast: 0.3, owners: 10_000 } as const;

/** Adapts the estimates of each owner to a slow style or machine. */
class Estimates {
  readonly #slownessOf = new LRUCache<string, number>({ max: slowness.owners });

  /** Returns how many times longer than estimated the owner's jobs take. */
  slownessOf(owner: string): number {
    return this.#slownessOf.get(owner) ?? 1;
  }

  learn(owner: string, estimatedMs: number, processorMs: number): void {
    const measured = Math.min(slowness.most, Math.max(slowness.least, processorMs / estimatedMs));
    const before = this.slownessOf(owner);
    this.#slownessOf.set(owner, before + slowness.ofLast * (measured - before));
  }
}

/** Bounds the pixels of the jobs that wait and run, by refusing jobs of the owner with the most. */
class PixelBound {
  readonly #queue: FairQueue<Job>;
  readonly #max: number;
  readonly #purpose: string;
  readonly #ofOwner = new Map<string, number>();
  #inFlight = 0;

  constructor(queue: FairQueue<Job>, { maxPixelsInFlight, purpose }: PoolOptions) {
    this.#queue = queue;
    this.#max = maxPixelsInFlight;
    this.#purpose = purpose;
  }

  /** Whether no job waits or runs. */
  get isIdle(): boolean {
    return this.#inFlight === 0;
  }

  /**
   * Makes space for a job. At the bound, refuses waiting jobs of the owner with the most pixels. Throws when that is
   * the owner of the job itself.
   */
  admit({ owner, pixels }: JobOptions): void {
    while (this.#inFlight > 0 && this.#inFlight + pixels > this.#max) {
      const [most, theirs] = [...this.#ofOwner].reduce((a, b) => (b[1] > a[1] ? b : a));
      const isOwn = most === owner || (this.#ofOwner.get(owner) ?? 0) + pixels > theirs;
      const dropped = isOwn ? undefined : this.#queue.removeNewest(most);
      if (!dropped) throw overloaded(this.#purpose);
      // Its pixels are released when it is answered, which happens immediately.
      dropped.failed(overloaded(this.#purpose));
    }
    this.#add(owner, pixels);
  }

  release({ owner, pixels }: JobOptions): void {
    this.#add(owner, -pixels);
  }

  #add(owner: string, pixels: number): void {
    this.#inFlight += pixels;
    const theirs = (this.#ofOwner.get(owner) ?? 0) + pixels;
    if (theirs > 0) this.#ofOwner.set(owner, theirs);
    else this.#ofOwner.delete(owner);
  }
}

/** Creates a pool that owns its processes. The caller closes it. */
export function createPool(poolOptions: PoolOptions): Pool {
  const { answerTimeoutMs, purpose } = poolOptions;
  const queue = new FairQueue<Job>();
  const processes = createProcesses(poolOptions, queue);
  const pixelBound = new PixelBound(queue, poolOptions);
  const estimates = new Estimates();
  let lastId = 0;

  return {
    run<W extends Work>(work: W, options: JobOptions): Promise<Done<Works[W['kind']]['result']>> {
      const { owner, pixels, signal } = options;
      return new Promise<Done<Works[W['kind']]['result']>>((resolve, reject) => {
        signal?.throwIfAborted();
        if (pixelBound.isIdle) queue.startBusyPeriod();
        pixelBound.admit(options);
        lastId += 1;
        const id = lastId;
        const costMs = options.costMs * estimates.slownessOf(owner);
        let isAnswered = false;
        const answer = (settlePromise: () => void): void => {
          if (isAnswered) return;
          isAnswered = true;
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
          pixelBound.release(options);
          settlePromise();
        };
        const charge = (processorMs: number): void => {
          estimates.learn(owner, options.costMs, processorMs);
          queue.correct(owner, processorMs - costMs);
        };
        const failed = (error: Error, processorMs = 0): void => {
          if (processorMs > 0) charge(processorMs);
          answer(() => reject(error));
        };
        const unqueue = () => queue.remove(({ task }) => task.id === id);
        const leave = (): void => {
          if (unqueue()) failed(signal!.reason);
        };
        signal?.addEventListener('abort', leave, { once: true });
        const timer = setTimeout(() => {
          unqueue();
          failed(new Overdue(purpose, answerTimeoutMs));
        }, answerTimeoutMs);
        queue.push({
          task: { ...work, id },
          owner,
          costMs,
          pixels,
          signal,
          failed,
          isAnswered: () => isAnswered,
          isLarge: () => options.costMs * Math.max(1, estimates.slownessOf(owner)) > largeMs,
          alone: false,
          answerByMs: performance.now() + answerTimeoutMs,
          done(result, processorMs) {
            processes.succeeded();
            charge(processorMs);
            answer(() => resolve({ result: result as Works[W['kind']]['result'], processorMs }));
          },
        });
        processes.dispatch();
      });
    },
    warm: processes.warm,
    close: processes.close,
  };
}

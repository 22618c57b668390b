/**
 * A pool of processes that do native work for maps, with a queue of waiting jobs.
 *
 * Input: work with its owner and estimated cost. Output: results. The pool uses processes instead of threads, because
 * native code cannot be interrupted, and a hang or crash must not affect other jobs. Terminating a thread was seen to
 * block a process that runs chDB. The first process starts with the first job, others as jobs wait. Owners share the
 * processes equally by `fair-queue`, and every job is answered in bounded time. Imports `schemas` and types of the
 * renderer.
 */
import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../schemas/errors.js';
import type { FoundSource } from '../map.js';
import { Child, type ChildOptions, type End, type Job } from './child.js';
import { FailedJob } from './failed-job.js';
import { FairQueue } from './fair-queue.js';
import type { Work, Works } from './messages.js';

export interface PoolOptions extends ChildOptions {
  readonly maxProcesses: number;
  /**
   * Maximum pixels of all waiting and running jobs. Beyond it, jobs of the owner with the most pixels are refused. A
   * single job is never too large.
   */
  readonly maxPixelsInFlight: number;
  /** Time from a job's arrival to its answer, including waiting and retries. */
  readonly answerTimeoutMs: number;
  /** Kind of the jobs in messages, such as `maps`. */
  readonly purpose: string;
  /** Receives the reason when a process is replaced or cannot start. */
  readonly onProblem: (reason: string) => void;
  /** Receives what a drawing process found of its source, once unless it changes. */
  readonly onFound?: (found: FoundSource) => void;
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

export interface Done<R> {
  readonly result: R;
  /** Measured processor time. */
  readonly processorMs: number;
}

export interface Pool {
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

/** A job crashed its process twice. */
export class Crash extends Error {}
/** A job exceeded its time limit. */
export class Overdue extends FailedJob {
  constructor(
    purpose: string,
    readonly limitMs: number,
    processorMs = 0,
  ) {
    super('unavailable', `drawing ${purpose} took more than ${limitMs} ms`, { processorMs, retryAfterS });
  }
}

/**
 * Cost above which a job is large. Large jobs never occupy all processes, so that small jobs need not wait for them.
 */
const largeMs = 150;
const retryAfterS = 2;
/** Pause after a process could not start. */
const pauseMs = 5_000;
const maxFailedStarts = 3;
/** Bounds of an owner's ratio of measured to estimated cost, and the weight of the latest job. */
const slowness = { least: 0.25, most: 50, ofLast: 0.3, owners: 10_000 } as const;

/** Creates a pool that owns its processes. The caller closes it. */
export function createPool(poolOptions: PoolOptions): Pool {
  const { maxProcesses, maxPixelsInFlight, timeoutMs, answerTimeoutMs, purpose, onProblem } = poolOptions;
  const children = new Set<Child>();
  const queue = new FairQueue<Job>();
  const pixelsOf = new Map<string, number>();
  const slownessOf = new LRUCache<string, number>({ max: slowness.owners });
  let pixelsInFlight = 0;
  let lastId = 0;
  /** By the monotonic clock. */
  let pausedUntilMs = 0;
  let failedStarts = 0;
  let lastUnusable: string | undefined;
  let lastFound: FoundSource | undefined;
  let isClosed = false;

  function dispatch(): void {
    for (;;) {
      const job = queue.next((each) => placeFor(each) !== undefined);
      if (job === undefined) break;
      const place = placeFor(job);
      (place === 'new' ? start() : place!).draw(job);
    }
    if (children.size === 0) giveUp(queue.drain());
    else keepOneFree();
  }

  /** Returns undefined when all processes are busy, or when none exists and none can start. */
  function placeFor(job: Job): Child | 'new' | undefined {
    const all = [...children];
    if (job.isLarge && all.filter((child) => child.hasLarge).length >= Math.max(1, maxProcesses - 1)) return undefined;
    const idle = all.find((child) => child.isIdle);
    if (idle) return idle;
    return mayStart() ? 'new' : all.find((child) => child.takes(job));
  }

  /** Processes start one at a time. */
  function mayStart(): boolean {
    const isCrowded = children.size >= maxProcesses || [...children].some((child) => child.isStarting);
    return !isCrowded && performance.now() >= pausedUntilMs && !isClosed;
  }

  /** Starts a process ahead of time. Starting takes a second, too long for a small job beside a large one. */
  function keepOneFree(): void {
    if ([...children].every((child) => child.hasLarge) && mayStart()) start();
  }

  function start(): Child {
    const child: Child = new Child(poolOptions, {
      onReady(found) {
        lastUnusable = undefined;
        if (found === undefined || isDeepStrictEqual(found, lastFound)) return;
        lastFound = found;
        poolOptions.onFound?.(found);
      },
      onCapacity: dispatch,
      onEnd(end, jobs) {
        children.delete(child);
        report(end);
        const isUnusable = end.kind === 'unusable' || hasFailedToStart(end);
        if (isUnusable) pausedUntilMs = performance.now() + pauseMs;
        if (isUnusable || end.kind === 'closed') giveUp(jobs);
        else settle(end, jobs);
        dispatch();
      },
    });
    children.add(child);
    return child;
  }

  /** A reason for which no process can work is reported once, though each map tries again. */
  function report(end: End): void {
    if (end.kind === 'closed') return;
    const reason = reasonOf(end, timeoutMs);
    if (end.kind === 'unusable') {
      if (reason === lastUnusable) return;
      lastUnusable = reason;
    }
    onProblem(`a process for ${purpose} was replaced: ${reason}`);
  }

  /** A single process that ends before it is ready may have been killed from outside. Several in a row were not. */
  function hasFailedToStart(end: End): boolean {
    if (end.kind !== 'crashed' || end.wasReady) return false;
    failedStarts = (failedStarts + 1) % maxFailedStarts;
    return failedStarts === 0;
  }

  /**
   * Retries the jobs of a process that ended. It is unknown which of two jobs exceeded the deadline, or whether a job
   * or something outside ended the process. So each job is retried once, alone. A job that was the only one is blamed
   * for exceeding the deadline. A job that ran alone as a retry is blamed for any end. Its owner pays for the time that
   * it took from others. Jobs that were answered meanwhile are not repeated.
   */
  function settle(end: End, jobs: readonly Job[]): void {
    const hasWorked = end.kind !== 'crashed' || end.wasReady;
    const isBlamed = (job: Job) => (job.alone && hasWorked) || (end.kind === 'overdue' && jobs.length === 1);
    for (const job of jobs.filter(isBlamed))
      job.failed(failureOf(end, purpose, timeoutMs), end.kind === 'overdue' ? timeoutMs : 0);
    for (const job of jobs.filter((each) => !isBlamed(each) && !each.isAnswered())) {
      if (job.signal?.aborted) job.failed(job.signal.reason);
      else queue.pushFirst({ ...job, alone: job.alone || hasWorked });
    }
  }

  function giveUp(jobs: readonly Job[]): void {
    for (const job of jobs) job.failed(unusable(purpose));
  }

  /**
   * Admits a job. At the bound, refuses waiting jobs of the owner with the most pixels. Throws when that is the owner
   * of the job itself.
   */
  function admit({ owner, pixels }: JobOptions): void {
    while (pixelsInFlight > 0 && pixelsInFlight + pixels > maxPixelsInFlight) {
      const [most, theirs] = [...pixelsOf].reduce((a, b) => (b[1] > a[1] ? b : a));
      const isOwn = most === owner || (pixelsOf.get(owner) ?? 0) + pixels > theirs;
      const dropped = isOwn ? undefined : queue.removeNewest(most);
      if (!dropped) throw overloaded(purpose);
      // Its pixels are released when it is answered, which happens immediately.
      dropped.failed(overloaded(purpose));
    }
  }

  function hold(owner: string, pixels: number): void {
    pixelsInFlight += pixels;
    const theirs = (pixelsOf.get(owner) ?? 0) + pixels;
    if (theirs > 0) pixelsOf.set(owner, theirs);
    else pixelsOf.delete(owner);
  }

  /** Adapts the estimates of an owner to a slow style or machine. */
  function learn(owner: string, estimatedMs: number, processorMs: number): void {
    const measured = Math.min(slowness.most, Math.max(slowness.least, processorMs / estimatedMs));
    const before = slownessOf.get(owner) ?? 1;
    slownessOf.set(owner, before + slowness.ofLast * (measured - before));
  }

  return {
    run<W extends Work>(work: W, options: JobOptions): Promise<Done<Works[W['kind']]['result']>> {
      const { owner, pixels, signal } = options;
      return new Promise<Done<Works[W['kind']]['result']>>((resolve, reject) => {
        signal?.throwIfAborted();
        if (pixelsInFlight === 0) queue.startBusyPeriod();
        admit(options);
        hold(owner, pixels);
        lastId += 1;
        const id = lastId;
        const costMs = options.costMs * (slownessOf.get(owner) ?? 1);
        let isAnswered = false;
        const answer = (settlePromise: () => void): void => {
          if (isAnswered) return;
          isAnswered = true;
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
          hold(owner, -pixels);
          settlePromise();
        };
        const charge = (processorMs: number): void => {
          learn(owner, options.costMs, processorMs);
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
          // Its owner may turn out to be slow while it waits.
          get isLarge() {
            return options.costMs * Math.max(1, slownessOf.get(owner) ?? 1) > largeMs;
          },
          alone: false,
          answerByMs: performance.now() + answerTimeoutMs,
          done(result, processorMs) {
            failedStarts = 0;
            charge(processorMs);
            answer(() => resolve({ result: result as Works[W['kind']]['result'], processorMs }));
          },
        });
        dispatch();
      });
    },
    warm() {
      if (children.size === 0 && mayStart()) start();
    },
    async close() {
      isClosed = true;
      giveUp(queue.drain());
      await Promise.all([...children].map((child) => child.close()));
    },
  };
}

const overloaded = (purpose: string): ApiError =>
  new ApiError('overloaded', `too many ${purpose} are in progress`, { retryAfterS });

const unusable = (purpose: string): ApiError =>
  new ApiError('unavailable', `${purpose} cannot be drawn now; see the log`, { retryAfterS: 5 });

const reasonOf = (end: End, timeoutMs: number): string =>
  end.kind === 'overdue' ? `more than ${timeoutMs} ms` : 'reason' in end ? end.reason : end.kind;

const failureOf = (end: End, purpose: string, timeoutMs: number): Error =>
  end.kind === 'overdue'
    ? new Overdue(purpose, timeoutMs, timeoutMs)
    : new Crash(`${purpose} could not be drawn: ${reasonOf(end, timeoutMs)}`);

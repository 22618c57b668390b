/**
 * The processes of a pool. They take waiting jobs from the queue, the first process starts with the first job, and
 * others start as jobs wait. Jobs of a process that ends are retried once, or fail.
 */
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../schemas/errors.js';
import type { FoundSource } from '../map.js';
import { Child, type ChildOptions, type End, type Job } from './child.js';
import { Crash, Overdue } from './failed-job.js';
import type { FairQueue } from './fair-queue.js';

/** Bounds of the processes, and to whom they report. */
export interface ProcessesOptions extends ChildOptions {
  readonly maxProcesses: number;
  /** Kind of the jobs in messages, such as `maps`. */
  readonly purpose: string;
  /** Receives the reason when a process is replaced or cannot start. */
  readonly onProblem: (reason: string) => void;
  /** Receives, in place of `onProblem`, why none can work: their source cannot be read. */
  readonly onUnusable?: (reason: string) => void;
  /** Receives what a drawing process found of its source, once unless it changes. */
  readonly onFound?: (found: FoundSource) => void;
}

interface Processes {
  /** Gives waiting jobs to processes. Call it after a job was queued. */
  dispatch(): void;
  /** Notes that a process has done a job, so that processes do start. */
  succeeded(): void;
  /** Starts a process before the first job needs it. */
  warm(): void;
  /** Ends the processes. Waiting and running jobs fail. */
  close(): Promise<void>;
}

/** Pause after a process could not start. */
const pauseMs = 5_000;
const maxFailedStarts = 3;

/** Creates the processes of a queue, which the caller closes. */
export function createProcesses(options: ProcessesOptions, queue: FairQueue<Job>): Processes {
  const { maxProcesses, timeoutMs, purpose, onProblem } = options;
  const children = new Set<Child>();
  /** By the monotonic clock. */
  let pausedUntilMs = 0;
  let failedStarts = 0;
  let lastUseless: string | undefined;
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
    if (job.isLarge() && all.filter((child) => child.hasLarge).length >= Math.max(1, maxProcesses - 1))
      return undefined;
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
    const child: Child = new Child(options, {
      onReady(found) {
        lastUseless = undefined;
        if (found === undefined || isDeepStrictEqual(found, lastFound)) return;
        lastFound = found;
        options.onFound?.(found);
      },
      onCapacity: dispatch,
      onEnd(end, jobs) {
        children.delete(child);
        report(end);
        const isUseless = end.kind === 'unusable' || end.kind === 'neverReady' || hasFailedToStart(end);
        if (isUseless) pausedUntilMs = performance.now() + pauseMs;
        // Others may have read a source that is away now.
        if (end.kind === 'closed' || (isUseless && children.size === 0)) giveUp(jobs);
        else settle(end, jobs);
        dispatch();
      },
    });
    children.add(child);
    return child;
  }

  /** A reason for which a process, or none, can work is reported once, though each map tries again. */
  function report(end: End): void {
    if (end.kind === 'closed') return;
    const reason = reasonOf(end, timeoutMs);
    const isForAll = end.kind === 'unusable' && children.size === 0 && options.onUnusable !== undefined;
    if (end.kind === 'unusable' || end.kind === 'neverReady') {
      const useless = `${isForAll} ${reason}`;
      if (useless === lastUseless) return;
      lastUseless = useless;
    }
    if (isForAll) options.onUnusable!(reason);
    else onProblem(`a process for ${purpose} was replaced: ${reason}`);
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
    const hasWorked = end.kind === 'overdue' || (end.kind === 'crashed' && end.wasReady);
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

  return {
    dispatch,
    succeeded() {
      failedStarts = 0;
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

const unusable = (purpose: string): ApiError =>
  new ApiError('unavailable', `${purpose} cannot be drawn now; see the log`, { retryAfterS: 5 });

const reasonOf = (end: End, timeoutMs: number): string =>
  end.kind === 'overdue' ? `more than ${timeoutMs} ms` : 'reason' in end ? end.reason : end.kind;

const failureOf = (end: End, purpose: string, timeoutMs: number): Error =>
  end.kind === 'overdue'
    ? new Overdue(purpose, timeoutMs, timeoutMs)
    : new Crash(`${purpose} could not be drawn: ${reasonOf(end, timeoutMs)}`);

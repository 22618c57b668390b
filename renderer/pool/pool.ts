/**
 * Processes that do native work for maps, and the jobs that wait for them.
 *
 * Flows in: work, by owner, with what it is expected to cost. Flows out: its results. Processes, not threads: native
 * code can't be interrupted, and one that hangs or crashes must cost nobody else anything; ending a thread of a process
 * in which chDB works was seen to block it. The first process starts with the first job, others as jobs wait. Owners
 * share the processes equally by `fair-queue`, and every job is answered in bounded time. Imports `schemas` and types
 * of this room.
 */
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../schemas/errors.js';
import { Child, type ChildOptions, type End, type Job } from './child.js';
import { FairQueue } from './fair-queue.js';
import type { Work, Works } from './messages.js';

export interface PoolOptions extends ChildOptions {
  readonly maxProcesses: number;
  /**
   * Of all jobs that wait or are worked on; past it jobs of whoever has the most are refused. One job alone is never
   * too large.
   */
  readonly maxPixelsInFlight: number;
  /** From its arrival to its answer, waiting and further attempts included. */
  readonly answerTimeoutMs: number;
  /** What the jobs are for, such as `maps`; of messages. */
  readonly purpose: string;
  /** Told why a process had to be replaced, or none can be had. */
  readonly onProblem: (reason: string) => void;
}

/** For whom a job is worked on, and what it takes. */
export interface Order {
  /** Owners share the processes equally. */
  readonly owner: string;
  /** Of a processor, estimated. */
  readonly costMs: number;
  /** Of memory that its result takes meanwhile. */
  readonly pixels: number;
}

export interface Done<R> {
  readonly result: R;
  /** What it took of a processor. */
  readonly processorMs: number;
}

export interface Pool {
  /**
   * Rejects with ApiError `overloaded` past the bound, `unavailable` when it takes too long or there is no process;
   * with {@link Crash}.
   */
  run<W extends Work>(work: W, order: Order): Promise<Done<Works[W['kind']]['result']>>;
  /** Jobs in hand are given up. */
  close(): Promise<void>;
}

/** A job ended its process twice. */
export class Crash extends Error {}
/** A job was not done within the time that one may take. */
export class Overdue extends ApiError {
  constructor(
    purpose: string,
    readonly limitMs: number,
  ) {
    super('unavailable', `drawing ${purpose} took more than ${limitMs} ms`, { retryAfterS });
  }
}

/**
 * A job of more isn't started in the last process that is free of such jobs: small ones are never stuck behind large
 * ones.
 */
const largeMs = 150;
const retryAfterS = 2;
/** How long nothing is tried after a process could not get ready. */
const pauseMs = 5_000;
const maxFailedStarts = 3;
/** By how much the jobs of one owner may be found to take more or less than estimated. */
const slowness = { least: 0.25, most: 50, ofLast: 0.3, owners: 10_000 } as const;

export function createPool(options: PoolOptions): Pool {
  const { maxProcesses, maxPixelsInFlight, timeoutMs, answerTimeoutMs, purpose, onProblem } = options;
  const children = new Set<Child>();
  const queue = new FairQueue<Job>();
  const pixelsOf = new Map<string, number>();
  const slownessOf = new LRUCache<string, number>({ max: slowness.owners });
  let pixelsInFlight = 0;
  let lastId = 0;
  let pausedUntilMs = 0;
  let failedStarts = 0;
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

  /** Undefined when all are busy, or when there is none and none can be had. */
  function placeFor(job: Job): Child | 'new' | undefined {
    const all = [...children];
    if (job.isLarge && all.filter((child) => child.hasLarge).length >= Math.max(1, maxProcesses - 1)) return undefined;
    const idle = all.find((child) => child.isIdle);
    if (idle) return idle;
    return mayStart() ? 'new' : all.find((child) => child.takes(job));
  }

  /** One starts at a time. */
  function mayStart(): boolean {
    const isCrowded = children.size >= maxProcesses || [...children].some((child) => child.isStarting);
    return !isCrowded && Date.now() >= pausedUntilMs && !isClosed;
  }

  /** A process takes about a second to start: too long for a small job that comes while a large one is worked on. */
  function keepOneFree(): void {
    if ([...children].every((child) => child.hasLarge) && mayStart()) start();
  }

  function start(): Child {
    const child: Child = new Child(options, {
      onRoom: dispatch,
      onEnd(end, jobs) {
        children.delete(child);
        if (end.kind !== 'closed')
          onProblem(`a process for ${purpose} had to be replaced: ${reasonOf(end, timeoutMs)}`);
        const isUnusable = end.kind === 'unusable' || hasFailedToStart(end);
        if (isUnusable) pausedUntilMs = Date.now() + pauseMs;
        if (isUnusable || end.kind === 'closed') giveUp(jobs);
        else settle(end, jobs);
        dispatch();
      },
    });
    children.add(child);
    return child;
  }

  /** A process that ended before it was ready may have been ended from outside; several in a row weren't. */
  function hasFailedToStart(end: End): boolean {
    if (end.kind !== 'crashed' || end.wasReady) return false;
    failedStarts = (failedStarts + 1) % maxFailedStarts;
    return failedStarts === 0;
  }

  /**
   * Which of two jobs kept a process past the deadline can't be told, nor whether a process was ended by a job or from
   * outside: each job is worked on once more, alone. A job that was the only one is overdue by its own fault, and one
   * that is alone by any.
   */
  function settle(end: End, jobs: readonly Job[]): void {
    const hasWorked = end.kind !== 'crashed' || end.wasReady;
    const isBlamed = (job: Job) => (job.alone && hasWorked) || (end.kind === 'overdue' && jobs.length === 1);
    for (const job of jobs.filter(isBlamed)) job.failed(failureOf(end, purpose, timeoutMs));
    for (const job of jobs.filter((each) => !isBlamed(each)))
      queue.pushFirst({ ...job, alone: job.alone || hasWorked });
  }

  function giveUp(jobs: readonly Job[]): void {
    for (const job of jobs) job.failed(unusable(purpose));
  }

  /**
   * Makes room for a job, if need be at the cost of the owner that has the most. Throws when that is the owner of the
   * job itself.
   */
  function admit({ owner, pixels }: Order): void {
    while (pixelsInFlight > 0 && pixelsInFlight + pixels > maxPixelsInFlight) {
      const [most, theirs] = [...pixelsOf].reduce((a, b) => (b[1] > a[1] ? b : a));
      const isOwn = most === owner || (pixelsOf.get(owner) ?? 0) + pixels > theirs;
      const dropped = isOwn ? undefined : queue.removeNewest(most);
      if (!dropped) throw overloaded(purpose);
      // Its pixels are given back when it is answered, which is at once.
      dropped.failed(overloaded(purpose));
    }
  }

  function hold(owner: string, pixels: number): void {
    pixelsInFlight += pixels;
    const theirs = (pixelsOf.get(owner) ?? 0) + pixels;
    if (theirs > 0) pixelsOf.set(owner, theirs);
    else pixelsOf.delete(owner);
  }

  /** Jobs of a style that is slow, or of a machine that is, are known by what the last ones took. */
  function learn(owner: string, estimatedMs: number, processorMs: number): void {
    const measured = Math.min(slowness.most, Math.max(slowness.least, processorMs / estimatedMs));
    const before = slownessOf.get(owner) ?? 1;
    slownessOf.set(owner, before + slowness.ofLast * (measured - before));
  }

  return {
    run<W extends Work>(work: W, order: Order): Promise<Done<Works[W['kind']]['result']>> {
      const { owner, pixels } = order;
      return new Promise<Done<Works[W['kind']]['result']>>((resolve, reject) => {
        admit(order);
        hold(owner, pixels);
        lastId += 1;
        const id = lastId;
        const costMs = order.costMs * (slownessOf.get(owner) ?? 1);
        let isAnswered = false;
        const answer = (tell: () => void): void => {
          if (isAnswered) return;
          isAnswered = true;
          clearTimeout(timer);
          hold(owner, -pixels);
          tell();
        };
        const failed = (error: Error): void => answer(() => reject(error));
        const timer = setTimeout(() => {
          queue.remove(({ task }) => task.id === id);
          failed(new Overdue(purpose, answerTimeoutMs));
        }, answerTimeoutMs);
        queue.push({
          ...{ task: { ...work, id }, owner, costMs, pixels, failed },
          isLarge: Math.max(costMs, order.costMs) > largeMs,
          alone: false,
          answerByMs: Date.now() + answerTimeoutMs,
          done(result, processorMs) {
            failedStarts = 0;
            learn(owner, order.costMs, processorMs);
            queue.correct(owner, processorMs - costMs);
            answer(() => resolve({ result: result as Works[W['kind']]['result'], processorMs }));
          },
        });
        dispatch();
      });
    },
    async close() {
      isClosed = true;
      giveUp(queue.drain());
      await Promise.all([...children].map((child) => child.close()));
    },
  };
}

const overloaded = (purpose: string): ApiError =>
  new ApiError('overloaded', `too many ${purpose} are being worked on`, { retryAfterS });

const unusable = (purpose: string): ApiError =>
  new ApiError('unavailable', `${purpose} can not be drawn now; the log says why`, { retryAfterS: 5 });

const reasonOf = (end: End, timeoutMs: number): string =>
  end.kind === 'overdue' ? `more than ${timeoutMs} ms` : 'reason' in end ? end.reason : end.kind;

const failureOf = (end: End, purpose: string, timeoutMs: number): Error =>
  end.kind === 'overdue'
    ? new Overdue(purpose, timeoutMs)
    : new Crash(`${purpose} could not be drawn: ${reasonOf(end, timeoutMs)}`);

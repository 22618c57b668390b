/** The pool's side of one process: its running jobs, their deadlines, and its end. */
import { type ChildProcess, fork } from 'node:child_process';
import { endOfProcess, withoutSettings } from '../../schemas/helper-process.js';
import type { FoundSource } from '../map.js';
import { FailedJob } from './failed-job.js';
import type { Queued } from './fair-queue.js';
import type { Answer, ProcessStart, Result, Task } from './messages.js';

/** A job of the pool. `alone`: it is retried after its process ended, and must not share a process. */
export interface Job extends Queued {
  readonly task: Task;
  readonly pixels: number;
  /** Aborts when nobody waits for the result any more. */
  readonly signal: AbortSignal | undefined;
  /** Returns whether it costs too much to share a process. Its owner may turn out to be slow in the meantime. */
  isLarge(): boolean;
  readonly alone: boolean;
  /** Deadline by the monotonic clock, `performance.now()`. */
  readonly answerByMs: number;
  /** `processorMs` is the measured processor time. */
  done(result: Result, processorMs: number): void;
  /** `processorMs` is what the job has used, as far as it is known. */
  failed(error: Error, processorMs?: number): void;
  /** Whether it was answered although it waits or runs: it took too long. */
  isAnswered(): boolean;
}

/** How a process ended: closed by the pool, unusable by its own account, never ready, past a deadline, or crashed. */
export type End =
  | { readonly kind: 'closed' }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'neverReady'; readonly reason: string }
  | { readonly kind: 'overdue' }
  | { readonly kind: 'crashed'; readonly reason: string; readonly wasReady: boolean };

/** What a process runs, and its limits. */
export interface ChildOptions {
  /** The compiled file that the process runs. */
  readonly module: URL;
  readonly start: ProcessStart;
  /** Time limit of one job in a ready process. */
  readonly timeoutMs: number;
  readonly startTimeoutMs: number;
  /** Maximum running jobs of a process; by default two, so that one is encoded while the next is drawn. */
  readonly maxJobs?: number;
}

interface ChildEvents {
  /** Called once, with what a drawing process found of its source. */
  onReady(found: FoundSource | undefined): void;
  /** Called when the process may take another job. */
  onCapacity(): void;
  /** Called once, with the jobs that were running. */
  onEnd(end: End, jobs: readonly Job[]): void;
}

const defaultMaxJobs = 2;
/** Maximum estimated cost of jobs that share a process, because the next job waits for both. */
const maxSharedMs = 200;

/** Time after which a closing process is killed. It cannot react while it draws a large map. */
const closeTimeoutMs = 1_000;

/**
 * Settings of glibc: the pixels of a map return to the system at once, and other freed memory soon. All threads share
 * one arena, because each arena keeps freed memory of its own.
 */
const allocation = {
  MALLOC_ARENA_MAX: '1',
  // With 8 MiB, holes that pictures leave are 30 MiB more. With 256 KiB, large maps cost more than 5 % more time.
  MALLOC_MMAP_THRESHOLD_: `${2 ** 20}`,
  // Must be set explicitly when the other threshold is set.
  MALLOC_TRIM_THRESHOLD_: `${8 * 2 ** 20}`,
};

const nodeOptions = [
  // V8 would let the heap grow to four times what is in use before it collects garbage. Collections must stay
  // incremental: others make V8 forget classes that have no object at that moment, and compile their code again.
  '--heap-growing-percent=100',
  // Copies of pixels are freed when the young generation is collected.
  '--max-semi-space-size=8',
];

/** One process. A job that takes too long ends it, because native code cannot be interrupted. */
export class Child {
  private readonly process: ChildProcess;
  private readonly jobs = new Map<number, Job>();
  private readonly timers = new Map<number, NodeJS.Timeout>();
  private readonly timeoutMs: number;
  private readonly maxJobs: number;
  private readonly events: ChildEvents;
  private readonly startTimer: NodeJS.Timeout;
  private readonly exited: Promise<void>;
  private isReady = false;
  private end: End | undefined;

  constructor(
    { module, start, timeoutMs, startTimeoutMs, maxJobs = defaultMaxJobs }: ChildOptions,
    events: ChildEvents,
  ) {
    this.timeoutMs = timeoutMs;
    this.maxJobs = maxJobs;
    this.events = events;
    this.process = fork(module, {
      serialization: 'advanced',
      execArgv: nodeOptions,
      env: { ...withoutSettings(process.env), ...allocation },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.startTimer = setTimeout(
      () => this.kill({ kind: 'neverReady', reason: 'it was not ready in time' }),
      startTimeoutMs,
    );
    this.process.on('message', (message) => this.receive(message as Answer));
    this.exited = new Promise((resolve) => {
      const over = (how: string) => {
        this.finish(how);
        resolve();
      };
      // The event `close` never comes after disconnecting.
      this.process.once('exit', (code, signal) => over(endOfProcess(code, signal)));
      // A process that could not start emits no `exit`.
      this.process.on('error', ({ message }) => this.process.pid === undefined && over(message));
    });
    this.send(start);
  }

  /** Returns whether the process runs no job and can take one. */
  get isIdle(): boolean {
    return this.end === undefined && this.jobs.size === 0;
  }

  /** Returns whether the process is not ready yet. */
  get isStarting(): boolean {
    return this.end === undefined && !this.isReady;
  }

  /** Returns whether the process runs a job that needs much memory. */
  get hasLarge(): boolean {
    return [...this.jobs.values()].some((job) => job.isLarge());
  }

  /** Returns whether the job may run beside those of the process. */
  takes(job: Job): boolean {
    if (this.isIdle) return true;
    if (this.end !== undefined || this.jobs.size >= this.maxJobs) return false;
    const all = [...this.jobs.values(), job];
    return (
      !all.some((each) => each.alone || each.isLarge()) &&
      all.reduce((sum, { costMs }) => sum + costMs, 0) <= maxSharedMs
    );
  }

  /** Runs the job, or keeps it until the process is ready. */
  draw(job: Job): void {
    this.jobs.set(job.task.id, job);
    if (this.isReady) this.submit(job);
  }

  /** Resolves when the process has ended, by itself or killed. */
  async close(): Promise<void> {
    this.end ??= { kind: 'closed' };
    if (this.process.connected) this.process.disconnect();
    const timer = setTimeout(() => this.process.kill('SIGKILL'), closeTimeoutMs);
    await this.exited;
    clearTimeout(timer);
  }

  private submit({ task, answerByMs }: Job): void {
    const timeoutMs = Math.max(0, Math.min(this.timeoutMs, answerByMs - performance.now()));
    this.timers.set(
      task.id,
      setTimeout(() => this.kill({ kind: 'overdue' }), timeoutMs),
    );
    this.send(task);
  }

  private receive(answer: Answer): void {
    if (this.end !== undefined) return;
    if (answer.kind === 'unusable') this.kill({ kind: 'unusable', reason: answer.reason });
    else if (answer.kind === 'ready') this.becomeReady(answer.found);
    else this.complete(answer);
  }

  private complete(answer: Extract<Answer, { readonly id: number }>): void {
    const job = this.jobs.get(answer.id);
    clearTimeout(this.timers.get(answer.id));
    this.timers.delete(answer.id);
    this.jobs.delete(answer.id);
    if (answer.kind === 'done') job?.done(answer.result, answer.processorMs);
    else job?.failed(failureOf(answer), answer.processorMs);
    this.events.onCapacity();
  }

  private becomeReady(found: FoundSource | undefined): void {
    this.events.onReady(found);
    clearTimeout(this.startTimer);
    this.isReady = true;
    for (const [id, job] of this.jobs) {
      if (job.signal?.aborted) job.failed(job.signal.reason);
      if (job.isAnswered()) this.jobs.delete(id);
      else this.submit(job);
    }
    this.events.onCapacity();
  }

  /** Kills the process. Native code cannot be interrupted otherwise. */
  private kill(end: End): void {
    this.end ??= end;
    this.process.kill('SIGKILL');
  }

  private finish(how: string): void {
    clearTimeout(this.startTimer);
    for (const timer of this.timers.values()) clearTimeout(timer);
    const reason = `its process ended (${how})`;
    this.end ??= { kind: 'crashed', reason, wasReady: this.isReady };
    this.events.onEnd(this.end, [...this.jobs.values()]);
  }

  /** Errors are ignored, because the end of the process is reported separately. */
  private send(message: ProcessStart | Task): void {
    this.process.send(message, () => {});
  }
}

function failureOf({ code, reason, processorMs }: Extract<Answer, { readonly kind: 'failed' }>): Error {
  if (code === undefined) return new Error(`a map could not be drawn: ${reason}`);
  return new FailedJob(code, reason, { processorMs });
}

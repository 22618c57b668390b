/** The pool's side of one drawing process: its tasks in hand, their deadlines, and its end. */
import { type ChildProcess, fork } from 'node:child_process';
import type { Queued } from './fair-queue.js';
import type { Answer, ProcessStart, Result, Task } from './messages.js';

/** One map on its way. `alone`: it was in a process that had to be replaced, and shares none any more. */
export interface Job extends Queued {
  readonly task: Task;
  readonly pixels: number;
  /** It takes so long that no other job shall wait for it in the same process. */
  readonly isLarge: boolean;
  readonly alone: boolean;
  /** Epoch ms. Drawing ends then, whatever it has come to. */
  readonly answerByMs: number;
  /** `processorMs`: what it took of a processor. */
  done(result: Result, processorMs: number): void;
  failed(error: Error): void;
}

/** How a process ended: asked to, since it can't be used, past a deadline, or by itself. */
export type End =
  | { readonly kind: 'closed' }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'overdue' }
  | { readonly kind: 'crashed'; readonly reason: string; readonly wasReady: boolean };

export interface ChildOptions {
  /** The compiled file that the process runs. */
  readonly module: URL;
  readonly start: ProcessStart;
  /** Of one map, from its arrival at a process that is ready. */
  readonly timeoutMs: number;
  readonly startTimeoutMs: number;
  /** Jobs that a process may have in hand; by default two, so that one is encoded while the next is drawn. */
  readonly maxJobs?: number;
}

export interface ChildEvents {
  /** There may be room for another job. */
  onRoom(): void;
  /** Once; with the jobs that were in hand. */
  onEnd(end: End, jobs: readonly Job[]): void;
}

const defaultMaxJobs = 2;
/** Of jobs that share a process, estimated: whoever comes next waits for both. */
const maxSharedMs = 200;

/** A process that is in the middle of a large map doesn't hear that it is to end. */
const closeTimeoutMs = 1_000;

/**
 * Of the C library, glibc: threads share what they free, and the pixels of a large map go back to the system at once.
 */
const allocation = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: `${8 * 2 ** 20}`,
  // Where the other is given, this one no longer follows it.
  MALLOC_TRIM_THRESHOLD_: `${32 * 2 ** 20}`,
};

/**
 * A map leaves megabytes of pixels outside a heap that is small. V8 takes them for growth and starts to mark the heap
 * again with every second map: a tenth of all processor time and more. Marked in one go, when it has to be, it takes 15
 * ms after some forty maps.
 */
const nodeOptions = ['--no-incremental-marking'];

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
      env: { ...withoutSecrets(process.env), ...allocation },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.startTimer = setTimeout(
      () => this.kill({ kind: 'unusable', reason: 'it did not get ready in time' }),
      startTimeoutMs,
    );
    this.process.on('message', (message) => this.hear(message as Answer));
    this.exited = new Promise((resolve) => {
      const over = (how: string) => {
        this.finish(how);
        resolve();
      };
      // Not `close`: it never comes once we have disconnected.
      this.process.once('exit', (code, signal) => over(signal ?? `status ${code}`));
      // Of a process that could not even be started there is no exit.
      this.process.on('error', ({ message }) => this.process.pid === undefined && over(message));
    });
    this.send(start);
  }

  get isIdle(): boolean {
    return this.end === undefined && this.jobs.size === 0;
  }

  get isStarting(): boolean {
    return this.end === undefined && !this.isReady;
  }

  get hasLarge(): boolean {
    return [...this.jobs.values()].some(({ isLarge }) => isLarge);
  }

  takes(job: Job): boolean {
    if (this.isIdle) return true;
    if (this.end !== undefined || this.jobs.size >= this.maxJobs) return false;
    const all = [...this.jobs.values(), job];
    return (
      !all.some(({ alone, isLarge }) => alone || isLarge) &&
      all.reduce((sum, { costMs }) => sum + costMs, 0) <= maxSharedMs
    );
  }

  draw(job: Job): void {
    this.jobs.set(job.task.id, job);
    if (this.isReady) this.hand(job);
  }

  /** Resolves when the process has ended: it closes what it opened, or is killed. */
  async close(): Promise<void> {
    this.end ??= { kind: 'closed' };
    if (this.process.connected) this.process.disconnect();
    const timer = setTimeout(() => this.process.kill('SIGKILL'), closeTimeoutMs);
    await this.exited;
    clearTimeout(timer);
  }

  private hand({ task, answerByMs }: Job): void {
    const timeoutMs = Math.max(0, Math.min(this.timeoutMs, answerByMs - Date.now()));
    this.timers.set(
      task.id,
      setTimeout(() => this.kill({ kind: 'overdue' }), timeoutMs),
    );
    this.send(task);
  }

  private hear(answer: Answer): void {
    if (this.end !== undefined) return;
    if (answer.kind === 'unusable') this.kill({ kind: 'unusable', reason: answer.reason });
    else if (answer.kind === 'ready') this.getReady();
    else this.take(answer);
  }

  private take(answer: Extract<Answer, { readonly id: number }>): void {
    const job = this.jobs.get(answer.id);
    clearTimeout(this.timers.get(answer.id));
    this.timers.delete(answer.id);
    this.jobs.delete(answer.id);
    if (answer.kind === 'done') job?.done(answer.result, answer.processorMs);
    else job?.failed(new Error(`a map could not be drawn: ${answer.reason}`));
    this.events.onRoom();
  }

  private getReady(): void {
    clearTimeout(this.startTimer);
    this.isReady = true;
    for (const job of this.jobs.values()) this.hand(job);
    this.events.onRoom();
  }

  /** Native code that draws can't be interrupted otherwise. */
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

  /** A process that ends meanwhile is heard of by its end. */
  private send(message: ProcessStart | Task): void {
    this.process.send(message, () => {});
  }
}

/** Secrets of the node are none of this process's business. */
export const withoutSecrets = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('FENCELINE_')));

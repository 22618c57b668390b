/**
 * The node's side of the processes of the embedded Valhalla. Requests share one, which starts with the first request
 * and ends when idle. Native code cannot be interrupted, so a request whose time is over ends the process. Other
 * requests that it ends run again, each in a process of its own.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { withoutSettings } from '../../schemas/helper-process.js';
import { type Answer, refusal } from '../answer.js';
import type { TimeLimit } from '../time-limit.js';
import type { ActorResult } from './actor.js';
import type { ValhallaAction } from './engine.js';

/** A call to the process of Valhalla. */
export interface ProcessMessage {
  readonly id: number;
  /** The same in all messages to a process. */
  readonly tilesFolder: string;
  readonly action: ValhallaAction;
  /** JSON. */
  readonly request: string;
}
/** The answer to the call of the same id. */
export interface ProcessAnswer {
  readonly id: number;
  readonly result: ActorResult;
}

/** Valhalla in a process of its own, which is replaced when a request hangs. */
export interface ValhallaProcess {
  /**
   * Asks for JSON. Answers `unavailable` at the time limit, and when the process ended twice. A request begins, and
   * runs again, only while its limit has time.
   */
  ask(tilesFolder: string, action: ValhallaAction, request: string, limit: TimeLimit): Promise<Answer<ActorResult>>;
  close(): Promise<void>;
}

interface Running {
  readonly tilesFolder: string;
  readonly child: ChildProcess;
  /** Take the result, or undefined when the process has ended. */
  readonly pending: Map<number, (result: ActorResult | undefined) => void>;
  readonly ended: Promise<void>;
  idle: NodeJS.Timeout | undefined;
}

/** A process frees its memory after this time without a request. */
const idleMs = 300_000;

/**
 * Creates the node's side, without a process before the first request. The caller closes it.
 * @param module the compiled file that the process runs.
 * @param onProblem is called with the reason when a process ends unexpectedly.
 */
export function createValhallaProcess(module: URL, onProblem: (reason: string) => void): ValhallaProcess {
  let current: Running | undefined;
  const all = new Set<Running>();
  let lastId = 0;
  let isClosed = false;

  function start(tilesFolder: string): Running {
    const child = fork(module, {
      env: withoutSettings(process.env),
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const pending: Running['pending'] = new Map();
    const ended = new Promise<void>((resolve) => {
      const end = (how: string) => {
        if (current === running) current = undefined;
        all.delete(running);
        clearTimeout(running.idle);
        if (pending.size > 0) onProblem(`the process of the embedded Valhalla ended (${how})`);
        for (const answer of pending.values()) answer(undefined);
        pending.clear();
        resolve();
      };
      child.once('exit', (code, signal) => end(signal ?? `status ${code}`));
      // A process that could not start emits no `exit`.
      child.on('error', ({ message }) => child.pid === undefined && end(message));
    });
    const running: Running = { tilesFolder, child, pending, ended, idle: undefined };
    child.on('message', (message) => {
      const { id, result } = message as ProcessAnswer;
      pending.get(id)?.(result);
      pending.delete(id);
      rest(running);
    });
    all.add(running);
    return running;
  }

  /** Ends a process without work: at once if it reads earlier tiles. */
  function rest(running: Running): void {
    if (running.pending.size > 0) return;
    if (running !== current) {
      stop(running);
      return;
    }
    running.idle = setTimeout(() => stop(running), idleMs);
    running.idle.unref();
  }

  function stop(running: Running): void {
    if (current === running) current = undefined;
    if (running.child.connected) running.child.disconnect();
  }

  /** Requests that arrive before the process has ended get another one. */
  function kill(running: Running): void {
    if (current === running) current = undefined;
    running.child.kill('SIGKILL');
  }

  /** Returns the process that requests for these tiles share. */
  function shared(tilesFolder: string): Running {
    if (current !== undefined && current.tilesFolder !== tilesFolder) {
      const earlier = current;
      current = undefined;
      rest(earlier);
    }
    current ??= start(tilesFolder);
    return current;
  }

  /** Returns undefined when the process has ended before it answered. */
  async function run(
    running: Running,
    work: Omit<ProcessMessage, 'id'>,
    signal: AbortSignal,
  ): Promise<ActorResult | undefined> {
    clearTimeout(running.idle);
    const message: ProcessMessage = { id: ++lastId, ...work };
    const atLimit = () => kill(running);
    signal.addEventListener('abort', atLimit, { once: true });
    const result = await new Promise<ActorResult | undefined>((resolve) => {
      running.pending.set(message.id, resolve);
      // The end of the process is reported separately.
      running.child.send(message, () => {});
    });
    signal.removeEventListener('abort', atLimit);
    return result;
  }

  return {
    async ask(tilesFolder, action, request, limit) {
      const work = { tilesFolder, action, request };
      if (!limit.hasTime()) return overdue();
      const first = await run(shared(tilesFolder), work, limit.signal);
      if (first !== undefined) return { ok: true, value: first };
      if (limit.signal.aborted) return overdue();
      // It is unknown which request ended the process. Alone, this one ends no other, and no other ends it.
      const again = !isClosed && limit.hasTime() ? await run(start(tilesFolder), work, limit.signal) : undefined;
      if (again !== undefined) return { ok: true, value: again };
      return limit.signal.aborted ? overdue() : refusal('unavailable', 'the embedded router ended unexpectedly');
    },
    async close() {
      isClosed = true;
      for (const running of all) running.child.kill('SIGKILL');
      await Promise.all([...all].map(({ ended }) => ended));
    },
  };
}

const overdue = () => refusal('unavailable', 'the embedded router did not answer in time');

/** The node's side of the process of the embedded Valhalla. It starts with the first request and ends when idle. */
import { type ChildProcess, fork } from 'node:child_process';
import { type Answer, refusal } from '../answer.js';
import type { ActorResult } from './actor.js';
import type { ValhallaAction } from './engine.js';

export interface ProcessMessage {
  readonly id: number;
  /** The same in all messages to a process. */
  readonly tilesFolder: string;
  readonly action: ValhallaAction;
  /** JSON. */
  readonly request: string;
}
export interface ProcessAnswer {
  readonly id: number;
  readonly result: ActorResult;
}

export interface ValhallaProcess {
  ask(tilesFolder: string, action: ValhallaAction, request: string, signal: AbortSignal): Promise<Answer<ActorResult>>;
  close(): Promise<void>;
}

interface Running {
  readonly tilesFolder: string;
  readonly child: ChildProcess;
  readonly pending: Map<number, (answer: Answer<ActorResult>) => void>;
  readonly ended: Promise<void>;
  idle: NodeJS.Timeout | undefined;
}

/** A process frees its memory after this time without a request. */
const idleMs = 300_000;

/**
 * @param module the compiled file that the process runs.
 * @param onProblem is called with the reason when a process ends unexpectedly.
 */
export function createValhallaProcess(module: URL, onProblem: (reason: string) => void): ValhallaProcess {
  let current: Running | undefined;
  const all = new Set<Running>();
  let lastId = 0;

  function start(tilesFolder: string): Running {
    const child = fork(module, {
      // The node's settings may be secret.
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('FENCELINE_'))),
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
        for (const answer of pending.values()) answer(refusal('unavailable', 'the embedded router ended unexpectedly'));
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
      pending.get(id)?.({ ok: true, value: result });
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

  return {
    ask(tilesFolder, action, request, signal) {
      // An aborted signal calls no listener: nothing would end the work.
      if (signal.aborted) return Promise.resolve(refusal('unavailable', 'the embedded router did not answer in time'));
      if (current !== undefined && current.tilesFolder !== tilesFolder) {
        const earlier = current;
        current = undefined;
        rest(earlier);
      }
      current ??= start(tilesFolder);
      const running = current;
      clearTimeout(running.idle);
      const id = ++lastId;
      return new Promise((resolve) => {
        running.pending.set(id, resolve);
        signal.addEventListener('abort', () => running.pending.has(id) && running.child.kill('SIGKILL'), {
          once: true,
        });
        const message: ProcessMessage = { id, tilesFolder, action, request };
        // The end of the process is reported separately.
        running.child.send(message, () => {});
      });
    },
    async close() {
      for (const running of all) running.child.kill('SIGKILL');
      await Promise.all([...all].map(({ ended }) => ended));
    },
  };
}

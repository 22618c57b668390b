/**
 * Runs an engine that is a library in a process of its own, so that its memory and its processor time can be measured.
 *
 * This is the parent's side: it sends calls and gets answers over IPC.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Fence } from '../workloads/workload.js';
import type { Engine, Transition, Usage } from './engine.js';
import type { Scene } from './scene.js';

/** An engine without a process: all calls return when they are done. */
export interface Core {
  load(fences: Iterable<Fence>): void;
  apply(from: number, to: number): void;
  locate(fix: number): readonly Transition[];
  put(fence: Fence): void;
  /** Forgets what a process forgets that keeps its states in memory. */
  restart(): void;
}

export type Call =
  | { readonly kind: 'load' | 'restart' | 'usage' }
  | { readonly kind: 'apply'; readonly from: number; readonly to: number }
  | { readonly kind: 'locate'; readonly fix: number }
  | { readonly kind: 'put'; readonly fence: Fence };

const program = fileURLToPath(new URL('./in-process-host.js', import.meta.url));

/** Starts the core of this name in a process. It loads the fences of its scene, whatever `load` is given. */
export async function startInProcess(name: string, { options }: Scene): Promise<Engine> {
  const child = fork(program, [name, JSON.stringify(options)], {
    execArgv: ['--expose-gc', '--max-semi-space-size=64'],
  });
  const waiting: { resolve(value: unknown): void; reject(error: Error): void }[] = [];
  let hasStopped = false;
  child.on('message', (value) => waiting.shift()!.resolve(value));
  child.on('exit', (code) => {
    if (!hasStopped) for (const { reject } of waiting) reject(new Error(`the process of ${name} ended with ${code}`));
  });
  const answer = (): Promise<unknown> => new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  const call = (message: Call): Promise<unknown> => {
    const answered = answer();
    child.send(message);
    return answered;
  };
  await answer();
  return {
    load: async () => void (await call({ kind: 'load' })),
    apply: async (from, to) => void (await call({ kind: 'apply', from, to })),
    locate: (fix) => call({ kind: 'locate', fix }) as Promise<Transition[]>,
    put: async (fence) => void (await call({ kind: 'put', fence })),
    restart: async () => void (await call({ kind: 'restart' })),
    usage: () => call({ kind: 'usage' }) as Promise<Usage>,
    async stop() {
      hasStopped = true;
      child.disconnect();
    },
  };
}

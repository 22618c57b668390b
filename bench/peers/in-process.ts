/**
 * Runs an engine that is a library in a process of its own, so that its memory and its processor time can be measured.
 *
 * This is the parent's side: it sends calls and gets answers over IPC.
 */
import { startChild } from '../child.js';
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

/** What the parent asks of the process. */
export type Call =
  | { readonly kind: 'load' | 'restart' | 'usage' }
  | { readonly kind: 'apply'; readonly from: number; readonly to: number }
  | { readonly kind: 'locate'; readonly fix: number }
  | { readonly kind: 'put'; readonly fence: Fence };

const program = new URL('./in-process-host.js', import.meta.url);

/** Starts the core of this name in a process. It loads the fences of its scene, whatever `load` is given. */
export async function startInProcess(name: string, { options }: Scene): Promise<Engine> {
  const child = await startChild<Call>(program, [name, JSON.stringify(options)]);
  return {
    load: async () => void (await child.call({ kind: 'load' })),
    apply: async (from, to) => void (await child.call({ kind: 'apply', from, to })),
    locate: (fix) => child.call({ kind: 'locate', fix }) as Promise<Transition[]>,
    put: async (fence) => void (await child.call({ kind: 'put', fence })),
    restart: async () => void (await child.call({ kind: 'restart' })),
    usage: () => child.call({ kind: 'usage' }) as Promise<Usage>,
    stop: async () => child.stop(),
  };
}

/** What the processes that a server starts for slow or risky work have in common. */
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { endSignals } from './end-signals.js';

/** The niceness of what a caller waits for: on a busy machine, a third of the share of what evaluates locations. */
const usualNiceness = 5;

/** Returns the environment for a process without the node's settings, which may be secret. */
export const withoutSettings = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('FENCELINE_')));

/** Lowers the priority of this process. Some systems do not allow it: its work then is as important as the rest. */
export function yieldToOthers(niceness = usualNiceness): void {
  try {
    setPriority(niceness);
  } catch {
    // See above.
  }
}

/** Says how a process ended, and what a signal that nobody here sent usually means. */
export function endOfProcess(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === null) return `status ${code}`;
  return signal === 'SIGKILL' || signal === 'SIGABRT' ? `${signal}, perhaps because memory ran out` : signal;
}

/**
 * Lets the parent decide when this process ends, and the system end it first when memory runs out. Without a parent,
 * signals end it.
 */
export function becomeHelper(): void {
  if (process.connected) leaveSignalsToParent();
  endFirstWithoutMemory();
}

/**
 * Ignores signals of a terminal or a supervisor, which reach the whole process group. The parent finishes its work
 * first, and then ends this process.
 */
function leaveSignalsToParent(): void {
  for (const signal of endSignals) process.on(signal, () => {});
}

/**
 * Asks the system to end this process first when memory runs out. Linux would end the largest process, the server.
 * Other systems have no such file.
 */
function endFirstWithoutMemory(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // See above.
  }
}

/** Sends a message to the parent. It is lost if the parent has ended, because an error would only print a stack. */
export function sendToParent(message: unknown): void {
  process.send?.(message, () => {});
}

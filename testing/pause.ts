/** Pauses a process as a debugger does. */
import { readdir, readFile } from 'node:fs/promises';
import { until } from './until.js';

/**
 * Sends SIGSTOP and resolves when every thread of the process has stopped. The kernel only promises to stop them: on a
 * busy machine a thread can still answer for some milliseconds. Signals go to the process group where `signalled` is
 * negative, as in `kill`.
 */
export async function pauseProcess(pid: number, signalled: number = pid): Promise<void> {
  process.kill(signalled, 'SIGSTOP');
  await until(() => isStopped(pid), { pollEveryMs: 1 });
}

async function isStopped(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`);
  const states = await Promise.all(threads.map((thread) => stateOf(`/proc/${pid}/task/${thread}/stat`)));
  return states.every((state) => state === undefined || state === 'T');
}

/** Returns the letter of a thread's state, which follows its name in parentheses. Undefined when it has ended. */
async function stateOf(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text?.charAt(text.lastIndexOf(')') + 2);
}

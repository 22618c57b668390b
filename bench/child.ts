/**
 * Child processes of the bench, which are called over IPC: what is measured has a heap and processor time of its own.
 *
 * A child answers its calls in their order. It ends when its parent disconnects or ends.
 */
import { fork } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A running child that takes calls of one type. */
interface Child<Call extends object> {
  /** Resolves to the answer. Rejects when the child has ended. */
  call(call: Call): Promise<unknown>;
  stop(): void;
}

/** Starts a program with arguments. Resolves when it answers calls; rejects when it ends before. */
export async function startChild<Call extends object>(
  program: URL,
  programArguments: readonly string[],
): Promise<Child<Call>> {
  const child = fork(fileURLToPath(program), programArguments, {
    // The young generation has the size of that of the location thread.
    execArgv: ['--expose-gc', '--max-semi-space-size=64'],
  });
  const waiting: { resolve(value: unknown): void; reject(error: Error): void }[] = [];
  child.on('message', (value) => waiting.shift()!.resolve(value));
  child.on('exit', (code) => {
    const name = basename(program.pathname);
    for (const { reject } of waiting.splice(0)) reject(new Error(`the process of ${name} ended with ${code}`));
  });
  const answer = (): Promise<unknown> => new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  await answer();
  return {
    call(call) {
      const answered = answer();
      child.send(call);
      return answered;
    },
    stop: () => child.disconnect(),
  };
}

/** Answers the calls of the parent, in the child. */
export function answerCalls<Call>(answerTo: (call: Call) => unknown): void {
  process.on('message', (call: Call) => process.send!(answerTo(call) ?? null));
  process.on('disconnect', () => process.exit(0));
  process.send!(null);
}

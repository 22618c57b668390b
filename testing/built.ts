/**
 * Compiled programs of the tests. Workers and child processes cannot run TypeScript, so `npm run build` compiles them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const root = new URL('../', import.meta.url);
/** The compiled output. DIST_UNDER_TEST names another one. This file itself runs compiled in the bench. */
const dist = process.env.DIST_UNDER_TEST
  ? pathToFileURL(`${process.env.DIST_UNDER_TEST}/`)
  : import.meta.url.endsWith('.js')
    ? root
    : new URL('dist/', root);

/** Returns the compiled file of a source file, which is given by its path in the project, without `.ts`. */
export const builtFile = (path: string): URL => new URL(`${path}.js`, dist);

interface Program {
  readonly child: ChildProcess;
  /** Lines printed so far. */
  readonly lines: string[];
  /** Resolves when the program has printed so many lines. Rejects when it ends before. */
  printed(count: number): Promise<void>;
  /** Exit code or signal name. */
  readonly ended: Promise<number | string>;
}

/** Starts a compiled program, as of {@link builtFile}, with arguments. Its errors go to the test's. */
export function startProgram(path: string, args: readonly string[]): Program {
  const child = spawn(process.execPath, [builtFile(path).pathname, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout! });
  output.on('line', (line) => lines.push(line));
  const closed = once(output, 'close');
  const ended = once(child, 'exit').then(async ([code, signal]: (number | string)[]) => {
    await closed;
    return code ?? signal ?? 'unknown';
  });
  return {
    child,
    lines,
    ended,
    async printed(count) {
      while (lines.length < count) {
        const over = await Promise.race([once(output, 'line').then(() => false), ended.then(() => true)]);
        if (over && lines.length < count) throw new Error(`${path} ended after ${lines.length} lines`);
      }
    },
  };
}

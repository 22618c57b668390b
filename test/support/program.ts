import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The compiled command line. PROGRAM_UNDER_TEST names one of another checkout. */
export const program =
  process.env.PROGRAM_UNDER_TEST ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Longer than any command takes on a busy machine. */
const commandTimeoutMs = 240_000;

/** Runs a command as an operator does. Resolves to how it ended, and to all that it printed. */
export async function runCommand(words: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(process.execPath, [program, ...words], { env, timeout: commandTimeoutMs, killSignal: 'SIGKILL' });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, output };
}

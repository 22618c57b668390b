/** Standard output, which may lose its reader or be a full disk, and streams that may be slower than we are. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';

const lost = new AbortController();

/** Aborts with the error when something could not be written. A command that writes on without end stops then. */
export const outputLost: AbortSignal = lost.signal;

/** Watches the output for errors. Without a listener, Node ignores the errors of console.log. */
export function watchOutput(): void {
  process.stdout.on('error', (error) => lost.abort(error));
}

/** Resolves when everything is written. Rejects with the error if something was not. */
export async function outputWritten(): Promise<void> {
  await new Promise<void>((resolve) => void process.stdout.write('', () => resolve()));
  outputLost.throwIfAborted();
}

/** Writes lines. Resolves when the stream takes more. */
export async function writeLines(stream: Writable, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  if (!stream.write(`${lines.join('\n')}\n`)) await once(stream, 'drain');
}

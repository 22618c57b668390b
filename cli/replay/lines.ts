/** Lines to a stream that may be slower than we are, or go away. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';

/** Resolves when the stream takes more. */
export async function writeLines(stream: Writable, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  if (!stream.write(`${lines.join('\n')}\n`)) await once(stream, 'drain');
}

/** Splits a byte stream into lines without holding more than a chunk and one line. */
import { isUtf8 } from 'node:buffer';
import type { FieldProblem } from '../../schemas/errors.js';
import { limitText } from '../../schemas/wording.js';

/** Longest line that is read. A longer one is rejected alone. */
export const maxLineBytes = 65_536;

const newline = 10;

/** A line, or the reason why it cannot be read. */
export type Line = string | FieldProblem;

const tooLong: FieldProblem = { param: 'line', rule: `must have at most ${limitText(maxLineBytes)}` };
const notUtf8: FieldProblem = { param: 'line', rule: 'must be UTF-8' };

const isTooLong = (line: string): boolean => line.length * 3 > maxLineBytes && Buffer.byteLength(line) > maxLineBytes;

/** Splits the same bytes line by line, so that only the broken lines are lost. */
function linesWithFaults(bytes: Buffer): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start <= bytes.length; ) {
    const found = bytes.indexOf(newline, start);
    const end = found < 0 ? bytes.length : found;
    const line = bytes.subarray(start, end);
    if (line.length > maxLineBytes) lines.push(tooLong);
    else lines.push(isUtf8(line) ? line.toString('utf8') : notUtf8);
    start = end + 1;
  }
  return lines;
}

/** Splits chunks as they arrive. It keeps at most one unfinished line. */
export class LineSplitter {
  #rest: Buffer[] = [];
  #restBytes = 0;
  #skipping = false;

  /** Returns the lines that the chunk completes, in order. */
  push(chunk: Buffer): Line[] {
    const end = chunk.lastIndexOf(newline);
    if (end < 0) {
      this.#keep(chunk);
      return [];
    }
    const lines = this.#complete(chunk.subarray(0, end));
    this.#keep(chunk.subarray(end + 1));
    return lines;
  }

  /** Returns the rest after the last line break. */
  end(): Line[] {
    return this.#restBytes === 0 && !this.#skipping ? [] : this.#complete(Buffer.alloc(0));
  }

  #complete(bytes: Buffer): Line[] {
    const whole = this.#restBytes === 0 ? bytes : Buffer.concat([...this.#rest, bytes]);
    const lines: Line[] = isUtf8(whole) ? whole.toString('utf8').split('\n') : linesWithFaults(whole);
    if (this.#skipping) lines[0] = tooLong;
    this.#rest = [];
    this.#restBytes = 0;
    this.#skipping = false;
    return lines.map((line) => (typeof line === 'string' && isTooLong(line) ? tooLong : line));
  }

  #keep(bytes: Buffer): void {
    if (this.#skipping || bytes.length === 0) return;
    this.#rest.push(bytes);
    this.#restBytes += bytes.length;
    if (this.#restBytes <= maxLineBytes) return;
    this.#skipping = true;
    this.#rest = [];
    this.#restBytes = 0;
  }
}

/** Yields the lines of a stream, chunk by chunk. */
export async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<readonly Line[]> {
  const splitter = new LineSplitter();
  for await (const chunk of source) yield splitter.push(chunk);
  yield splitter.end();
}

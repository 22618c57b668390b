/** Reads files that have one JSON object a line. */
import { createReadStream } from 'node:fs';
import { isDictionary } from '../../http/fields/values.js';
import { fileProblem } from '../../schemas/file-problem.js';
import { CommandFailure } from '../command.js';

/** An object of a file, with its line for errors. */
export interface JsonLine {
  /** From 1. */
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A file without line breaks must not fill the memory. */
const maxLineCharacters = 16_000_000;
const shownCharacters = 60;

/**
 * Yields the objects. Skips blank lines and a byte order mark. Throws a CommandFailure that names file, line and rule
 * when a line is no JSON object or has more than 16 million characters, and when the file can't be read.
 */
export async function* jsonLinesOf(file: string): AsyncGenerator<JsonLine> {
  let line = 0;
  for await (const text of linesOf(file)) {
    line += 1;
    const object = (line === 1 ? text.replace(/^\ufeff/, '') : text).trim();
    if (object !== '') yield { line, fields: fieldsOf(object, `line ${line} of ${file}`) };
  }
}

function fieldsOf(text: string, where: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new CommandFailure(`${where} must be JSON: ${text.slice(0, shownCharacters)}`);
  }
  if (!isDictionary(value))
    throw new CommandFailure(`${where} must be a JSON object: ${text.slice(0, shownCharacters)}`);
  return value;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let line = 1;
  let rest = '';
  for await (const chunk of chunksOf(file, 'utf8')) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    line += lines.length;
    yield* lines;
    if (rest.length > maxLineCharacters)
      throw new CommandFailure(`line ${line} of ${file} must have at most ${maxLineCharacters} characters`);
  }
  yield rest;
}

function chunksOf(file: string): AsyncGenerator<Buffer>;
function chunksOf(file: string, encoding: 'utf8'): AsyncGenerator<string>;
async function* chunksOf(file: string, encoding?: 'utf8'): AsyncGenerator<Buffer | string> {
  try {
    yield* createReadStream(file, encoding);
  } catch (error) {
    throw new CommandFailure(`${file} can't be read: ${fileProblem(error)}`);
  }
}

/** Returns the size of a file up to the end of its last whole line, in bytes. */
export async function wholeLinesBytes(file: string): Promise<number> {
  let [bytes, wholeBytes] = [0, 0];
  for await (const chunk of chunksOf(file)) {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) wholeBytes = bytes + end;
    bytes += chunk.length;
  }
  return wholeBytes;
}

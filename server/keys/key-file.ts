/** Files of the data folder that each contain one key. They are readable only by the owner. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartError } from '../failures.js';

/** Returns the text of the file; undefined if there is none. Throws a StartError when it is empty. */
export function readKeyFile(path: string): string | undefined {
  const text = contentOf(path)?.trim();
  if (text === '') throw new StartError(`${path} is empty: restore it from a copy, or delete it if it never had a key`);
  return text;
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes the file as a whole or not at all. It is on disk afterwards. */
export function writeKeyFile(path: string, text: string): void {
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { force: true });
  writeFileSync(unfinished, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true });
  renameSync(unfinished, path);
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Writes the files that commands produce. */
import { closeSync, createWriteStream, lstatSync, openSync, readlinkSync, rmSync, type Stats, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tidyOnExit } from '../schemas/tidy-on-exit.js';
import { CommandFailure, UsageError } from './command.js';

/**
 * Returns the format that the extension of an output file names; undefined for a file without an extension, such as
 * /dev/stdout. Throws a UsageError on any other extension, so that no file says what it is not.
 */
export function formatOfOutput<Format>(
  path: string,
  formats: Readonly<Record<string, Format>>,
  remedy: string,
): Format | undefined {
  const extension = extname(path).toLowerCase();
  if (extension === '' || Object.hasOwn(formats, extension)) return formats[extension];
  const known = Object.keys(formats);
  throw new UsageError(
    `--output must end in ${known.slice(0, -1).join(', ')} or ${known.at(-1)}, not ${path}; or ${remedy}`,
  );
}

/** Returns the file that a path leads to over links, whether it exists or not. */
const targetOf = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()
    ? targetOf(resolve(dirname(path), readlinkSync(path)))
    : path;

/** Returns the name under which a file is written until it is whole. */
const unfinishedOf = (target: string): string => `${target}.unfinished`;

const found = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });

/** Returns whether both are one file, also under two names. */
const isSameFile = (one: Stats, other: Stats | undefined): boolean => one.ino === other?.ino && one.dev === other.dev;

/**
 * Throws if the file of an option can't be written: a UsageError for the file `input`, which the command reads, a
 * CommandFailure for a folder or without its folder, else the error of the system. Changes nothing.
 */
export function checkOutput(option: 'output' | 'rejected', path: string, input?: string): void {
  const existing = found(path);
  if (existing?.isDirectory()) throw new CommandFailure(`--${option} must be a file, and ${path} is a folder`);
  if (existing?.isFile() && input !== undefined && isSameFile(existing, found(input)))
    throw new UsageError(`--${option} must be another file than ${input}, which it would replace`);
  // To open a pipe waits for its reader.
  if (existing !== undefined && !existing.isFile()) return;
  const target = targetOf(path);
  const folder = dirname(target);
  if (found(folder) === undefined) throw new CommandFailure(`--${option} ${path}: there is no folder ${folder}`);
  // A process that is killed in between must not leave an empty file under the name of the result.
  const tried = existing === undefined ? unfinishedOf(target) : target;
  const isLeft = found(tried) !== undefined;
  closeSync(openSync(tried, 'a'));
  if (!isLeft) rmSync(tried);
}

/**
 * Writes a file whole, or leaves it as it was: the content goes to `PATH.unfinished` first, which is removed if
 * something fails or the signal aborts. Rejects with the reason of the signal, or with the error. Keeps links, and
 * writes directly to what is no file, such as /dev/null, which a rename would replace.
 */
export async function save(path: string, content: Readable | Uint8Array, signal?: AbortSignal): Promise<void> {
  const source = content instanceof Readable ? content : Readable.from([content]);
  const existing = found(path);
  const isDirect = existing !== undefined && !existing.isFile();
  const target = targetOf(path);
  const written = isDirect ? path : unfinishedOf(target);
  const release = tidyOnExit(() => !isDirect && rmSync(written, { force: true }));
  try {
    // Flushed before the rename: a power cut could leave an empty file under the name of the result.
    await pipeline(source, createWriteStream(written, { flush: !isDirect }), { signal });
    if (!isDirect) await rename(written, target);
  } catch (error) {
    if (!isDirect) await rm(written, { force: true });
    throw signal?.aborted ? signal.reason : error;
  } finally {
    release();
  }
}

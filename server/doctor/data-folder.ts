/** Checks the data folder: whether it can be written, whether it is in use, and its free space. */
import { constants } from 'node:fs';
import { access, lstat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { isLocked } from '../../backends/embedded/folder-lock.js';
import type { Configuration } from '../config/schema.js';
import { freeSpaceOf, minFreeBytesOf } from '../data-folder/space-watch.js';
import { findUnusable } from '../data-folder/unusable.js';
import { type Finding, findingsAbout } from './finding.js';

const { ok, warning, failure } = findingsAbout('data folder');

/** Below this multiple of the minimum free space, writes will soon be refused. */
const narrow = 3;

/** Yields findings about the folder, which need not exist yet. Creates nothing. */
export async function* checkDataFolder(configuration: Configuration): AsyncGenerator<Finding> {
  const folder = resolve(configuration.data);
  const found = await lstat(folder).catch(() => undefined);
  if (found === undefined) {
    yield ok(`${folder} does not exist yet; the first start creates it`);
  } else if (!found.isDirectory()) {
    yield failure(`${folder} is not a folder`, 'Set data, or --data, to a folder.');
    return;
  }
  const present = found === undefined ? await nearestFolder(dirname(folder)) : folder;
  const isWritable = await access(present, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    yield failure(`${present} can't be written by this user`, 'Run as its owner, or change the owner with chown.');
  if (found !== undefined) {
    const unusable = isWritable ? findUnusable(folder) : undefined;
    if (unusable !== undefined) yield failure(`${unusable.path}: ${unusable.reason}`, sentence(unusable.remedy));
    // Without permission nobody can tell.
    if (isWritable && unusable === undefined) yield await usage(folder);
  }
  yield await space(configuration, present);
}

async function nearestFolder(path: string): Promise<string> {
  const exists = await lstat(path).catch(() => undefined);
  return exists !== undefined || dirname(path) === path ? path : nearestFolder(dirname(path));
}

const usage = async (folder: string): Promise<Finding> =>
  (await isLocked(folder)) ? ok(`${folder} is in use by a running node`) : ok(`${folder} is not in use`);

async function space({ storage }: Configuration, folder: string): Promise<Finding> {
  const { freeBytes, totalBytes } = await freeSpaceOf(folder);
  const minFreeBytes = minFreeBytesOf(storage, totalBytes);
  const text = `${gib(freeBytes)} of ${gib(totalBytes)} are free; writes are refused below ${gib(minFreeBytes)}`;
  const remedy = 'Free disk space, enlarge the disk, or shorten locations.retentionDays and events.retentionDays.';
  if (freeBytes < minFreeBytes) return failure(text, remedy);
  return freeBytes < narrow * minFreeBytes ? warning(text, remedy) : ok(text);
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

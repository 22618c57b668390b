/**
 * Refuses a data folder that this process can't use: files of other users, a disk that is read-only, or one that is too
 * small. The engines would end the process by a signal or with a stack. Each refusal names the path and what helps.
 */
import { accessSync, constants, type Dirent, existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { damagedBlock } from '../../backends/embedded/damage.js';
import { refuseLongPath } from '../../backends/embedded/folder-lock.js';
import type { Configuration } from '../config/schema.js';
import { StartError } from '../failures.js';
import { remedies } from './damaged-files.js';
import { freeSpaceOf, minFreeBytesOf } from './space-watch.js';

interface Problem {
  readonly reason: string;
  readonly remedy: string;
}

/** Why a file or folder can't be used. */
interface Unusable extends Problem {
  readonly path: string;
}

/** The code of an error of the analytics engine that prevents the start. Errors keep their code across threads. */
export const unreadableAnalytics = 'UNREADABLE_ANALYTICS';

/**
 * MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_PANIC, MDB_VERSION_MISMATCH, MDB_INVALID, and MDB_BAD_TXN, with which a
 * transaction ends that has met damage.
 */
const damageCodes: ReadonlySet<number> = new Set([-30_797, -30_796, -30_795, -30_794, -30_793, -30_782]);

/** Returns what helps against damage of a folder or file, or of an unknown one. */
const damageOf = (data: string, path: string = data): Problem => ({
  reason: 'a file of LMDB is damaged',
  remedy:
    resolve(path) === resolve(data)
      ? `${remedies['read-model']}; if that does not help, ${remedies.log}`
      : (remedies[relative(resolve(data), resolve(path)) as keyof typeof remedies] ?? remedies.log),
});

/** By the error code of the system. */
const problems: Readonly<Record<string, Problem>> = {
  EACCES: {
    reason: 'it belongs to another user',
    remedy: 'run Fenceline as that user, or change the owner of the whole data folder with chown -R',
  },
  EPERM: { reason: 'the system protects it', remedy: 'check its owner and its attributes (lsattr, chattr -i)' },
  EROFS: { reason: 'its disk is read-only', remedy: 'mount the disk for writing' },
  ENOTDIR: { reason: 'it, or a folder above it, is a file', remedy: 'name a folder' },
  EEXIST: { reason: 'it is a file', remedy: 'name a folder' },
  ENAMETOOLONG: {
    reason: 'its path is too long for a socket, which may have about 100 bytes',
    remedy: 'name a shorter path, or a path from a working directory nearby',
  },
  ENOSPC: { reason: 'its disk is full', remedy: 'free space on the disk' },
  EDQUOT: { reason: 'the quota of its disk is used up', remedy: 'free space, or raise the quota' },
  EIO: { reason: 'its disk fails, or is full', remedy: 'check the disk, and free space on it' },
};

/** Returns what an error of the system or an engine says about the data folder; undefined for all other errors. */
function unusableBy(data: string, error: NodeJS.ErrnoException): Unusable | undefined {
  if (error.code === 'ENOENT' && error.syscall === 'mkdir')
    return { path: data, reason: 'the system refuses to create it', remedy: 'name another folder' };
  if (error.code === unreadableAnalytics)
    return {
      path: join(data, 'analytics'),
      reason: `the analytics engine can't open it (${error.message.trim()})`,
      remedy: 'restore a backup, or move this folder away to go on with an empty history',
    };
  if (error.code === damagedBlock) return { path: error.path ?? data, ...damageOf(data, error.path) };
  const problem =
    typeof error.code !== 'number'
      ? problems[error.code ?? '']
      : damageCodes.has(error.code)
        ? damageOf(data, error.path)
        : // LMDB has numbers instead of names.
          problems[getSystemErrorName(-Math.abs(error.code))];
  return problem && { path: error.path ?? data, ...problem };
}

function refusal(data: string, { path, reason, remedy }: Unusable): StartError {
  const subject = resolve(path).startsWith(join(resolve(data), '/')) ? `${path}: ` : '';
  return new StartError(`the data folder ${data} can't be used: ${subject}${reason}; ${remedy}`);
}

/** Returns the refusal of a folder after such an error; undefined for all other errors. */
export function folderFailure(data: string, error: NodeJS.ErrnoException): StartError | undefined {
  const unusable = unusableBy(data, error);
  return unusable && refusal(data, unusable);
}

/** Folders of LMDB, which writes to all of their files. */
const lmdbFolders = ['log', 'state', 'read-model', 'deliveries'];
const { R_OK, W_OK, X_OK } = constants;

/**
 * Returns the first folder or file of a node that this process can't read and write; undefined if there is none. What
 * others put into the data folder, such as a map on a disk that is read-only, is not looked at.
 */
export function findUnusable(data: string): Unusable | undefined {
  try {
    refuseLongPath(data);
    // Without permission for the folder itself, the system says that it has no files.
    if (existsSync(data)) accessSync(data, R_OK | W_OK | X_OK);
    for (const folder of [...lmdbFolders, 'analytics', 'imports'].map((name) => join(data, name)))
      if (existsSync(folder)) requireFolder(folder);
    const files = lmdbFolders.flatMap((name) => [join(data, name, 'data.mdb'), join(data, name, 'lock.mdb')]);
    for (const file of files) if (existsSync(file)) accessSync(file, R_OK | W_OK);
    return undefined;
  } catch (error) {
    const unusable = unusableBy(data, error as NodeJS.ErrnoException);
    if (unusable === undefined) throw error;
    return unusable;
  }
}

/** The engine of analytics needs no permission to write its files, which it replaces. */
function requireFolder(path: string): void {
  for (const entry of entriesOf(path)) if (entry.isDirectory()) requireFolder(join(path, entry.name));
}

/** Returns the entries of a folder; none when a node that runs has removed it meanwhile. */
function entriesOf(path: string): readonly Dirent[] {
  try {
    // Read first: for a file in the place of a folder, the system says that it is one.
    const entries = readdirSync(path, { withFileTypes: true });
    accessSync(path, R_OK | W_OK | X_OK);
    return entries;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Throws a StartError for a folder or file of a node that this process can't read and write. */
export function refuseUnusableFiles(data: string): void {
  const unusable = findUnusable(data);
  if (unusable !== undefined) throw refusal(data, unusable);
}

/**
 * Throws a StartError when no node has begun in the folder and its disk has so little space that every write would be
 * refused, that of the first project too.
 */
export async function refuseSmallDisk({ data, storage }: Pick<Configuration, 'data' | 'storage'>): Promise<void> {
  if (existsSync(join(data, 'log', 'data.mdb'))) return;
  const { freeBytes, totalBytes } = await freeSpaceOf(data);
  const minFreeBytes = minFreeBytesOf(storage, totalBytes);
  if (freeBytes >= minFreeBytes) return;
  throw refusal(data, {
    path: data,
    reason: `its disk has ${mib(freeBytes)} free, and a first start needs ${mib(minFreeBytes)}`,
    remedy: 'free space, name a folder on a larger disk, or lower storage.minFreeBytes',
  });
}

const mib = (bytes: number): string => `${Math.floor(bytes / 2 ** 20)} MiB`;

/**
 * Backs up the data folder of an embedded node, also while it runs.
 *
 * The order makes the copies fit together. The positions of the analytics sink come first, then the tables: a restored
 * node stores the rows after the positions again, and rows replace each other by id. The delivery queues, states and
 * log follow (`backends/embedded/copy.ts`): the node evaluates again what its log has beyond its states.
 */

import { once } from 'node:events';
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { chmod, copyFile, cp, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { FrozenTable } from '../../backends/embedded/analytics-snapshot.js';
import { copyEnvironments, readStoredPositions } from '../../backends/embedded/copy.js';
import { hasLog } from '../../backends/embedded/reader.js';
import { isDiskFull } from '../../backends/embedded/space.js';
import { analyticsSinkGroup } from '../../pipeline/stages/analytics/sink.js';
import { createFolder } from '../../schemas/create-folder.js';
import { fileProblem } from '../../schemas/file-problem.js';
import { StartError } from '../failures.js';
import { adminApiKeyFile } from '../keys/admin-api-key.js';
import { encryptionKeyFile } from '../keys/encryption-key.js';
import { version } from '../version.js';
import { type Manifest, writeManifest } from './manifest.js';

/** The tables of a node as of one moment. */
export interface Snapshot {
  readonly _id: string;
  /** SHA-256 of the node's encryption key, null if it is unknown. */
  readonly encryptionKeySha256: string | null;
  /** Their folders are relative to `analytics/` of the data folder. */
  readonly tables: readonly FrozenTable[];
}

/** How a backup gets a snapshot: from the running node, or from the engine of a stopped one. */
export interface Snapshots {
  take(): Promise<Snapshot>;
  drop(id: string): Promise<void>;
}

export interface BackupOptions {
  readonly data: string;
  /** An empty or missing folder. */
  readonly target: string;
  readonly snapshots: Snapshots;
  /** Copies the encryption key and the admin API key as well. */
  readonly includeKeys: boolean;
  /** Interrupts the backup, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Folders and files of a data folder that a backup contains, apart from the environments of LMDB. */
export const keyFiles = [encryptionKeyFile, adminApiKeyFile];
export const tablesFolder = 'analytics';

/**
 * Throws a StartError when there is nothing to back up, the target has content or is inside the data folder, or its
 * disk is full, and the reason of an interruption. Removes then what it wrote. The caller ends the process after an
 * interruption: threads of LMDB may go on copying.
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { data, target } = options;
  if (!hasLog(data)) throw new StartError(`${data} is not a data folder of Fenceline; choose another with --data`);
  await refuseContent(target);
  refuseInside(target, data, 'the data folder');
  createFolder(target);
  try {
    return await fill(options);
  } catch (error) {
    // At once, so that what an interruption left running adds nothing meanwhile.
    for (const name of readdirSync(target)) rmSync(join(target, name), { recursive: true, force: true, maxRetries });
    throw isDiskFull(error, target) ? diskFull(target) : error;
  }
}

/** Returns the error of a full disk. The engines report a full disk in ways of their own. */
export const diskFull = (folder: string): StartError =>
  new StartError(`the disk of ${folder} is full, and nothing was left there`);

/** Attempts to remove a folder to which a thread is still adding a file. */
const maxRetries = 10;

async function fill({ data, target, snapshots, includeKeys, signal }: BackupOptions): Promise<Manifest> {
  const startedAt = new Date().toISOString();
  const sinkPositions = await readStoredPositions(data, analyticsSinkGroup);
  const { _id, encryptionKeySha256, tables } = await snapshots.take();
  try {
    await unlessAborted(signal, copyStores(data, target, tables, signal));
  } finally {
    await snapshots.drop(_id);
  }
  const keys = includeKeys ? keyFiles.filter((name) => existsSync(join(data, name))) : [];
  const complete = async (): Promise<Manifest> => {
    for (const name of keys) await copyFile(join(data, name), join(target, name));
    await closeToOthers(target);
    return writeManifest(target, {
      version,
      startedAt,
      encryptionKeySha256,
      includesKeys: keys.includes(encryptionKeyFile),
      sinkPositions,
      tables: tables.map(({ name, create }) => ({ name, create })),
    });
  };
  return unlessAborted(signal, complete());
}

/** Settles as the promise does, or rejects with the reason of the signal. The work goes on after a rejection. */
async function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  const end = new AbortController();
  const aborted = once(signal, 'abort', { signal: end.signal }).then(
    () => signal.throwIfAborted(),
    () => {},
  );
  try {
    signal.throwIfAborted();
    return (await Promise.race([promise, aborted])) as T;
  } finally {
    end.abort();
  }
}

async function copyStores(
  data: string,
  target: string,
  tables: readonly FrozenTable[],
  signal: AbortSignal,
): Promise<void> {
  await copyEnvironments(data, target, signal);
  for (const { name, folder } of tables) {
    signal.throwIfAborted();
    await copyParts(join(data, 'analytics'), folder, join(target, 'analytics', name));
  }
}

async function copyParts(analytics: string, folder: string | null, target: string): Promise<void> {
  if (folder === null) return;
  if (!existsSync(join(analytics, folder)))
    throw new StartError(
      `the running server has another data folder than ${resolve(analytics, '..')}; name it with --data`,
    );
  await cp(join(analytics, folder), target, { recursive: true });
}

/** Copies keep the modes of their originals, which may be more open than those that this process creates. */
async function closeToOthers(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
}

/** Throws a StartError unless the folder is missing or empty. */
export async function refuseContent(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new StartError(`${folder} can't be read: ${fileProblem(error)}`);
  });
  if (names.length > 0) throw new StartError(`${folder} is not empty; name a folder that is empty or missing`);
}

/**
 * Throws a StartError if the folder is inside the other one. Whoever owns the other one may remove it, or takes its
 * files for foreign ones.
 */
export function refuseInside(folder: string, outer: string, named: string): void {
  const [first] = relative(realPath(outer), realPath(folder)).split(sep);
  if (first !== '..') throw new StartError(`${folder} is inside ${named} ${outer}; name a folder outside of it`);
}

/** Returns the path without symbolic links, also of a folder that does not exist yet. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(resolve(path));
  return join(realPath(parent), basename(resolve(path)));
}

/**
 * Backs up the data folder of an embedded node, also while it runs.
 *
 * The order makes the copies fit together. The positions of the analytics sink come first, then the tables: a restored
 * node stores the rows after the positions again, and rows replace each other by id. The delivery queues, states and
 * log follow (`backends/embedded/copy.ts`): the node evaluates again what its log has beyond its states.
 */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrozenTable } from '../../backends/embedded/analytics-snapshot.js';
import { copyEnvironments, readStoredPositions } from '../../backends/embedded/copy.js';
import { isDiskFull } from '../../backends/embedded/space.js';
import { analyticsSinkGroup } from '../../pipeline/stages/analytics/sink.js';
import { tidyOnExit } from '../../schemas/tidy-on-exit.js';
import { requireDataFolder } from '../data-folder/existing-folder.js';
import { refuseUnusableFiles } from '../data-folder/unusable.js';
import { StartError } from '../failures.js';
import { adminApiKeyFile } from '../keys/admin-api-key.js';
import { encryptionKeyFile } from '../keys/encryption-key.js';
import { version } from '../version.js';
import { type Manifest, writeManifest } from './manifest.js';
import { createTarget, diskFull, refuseContent, refuseInside } from './target-folder.js';

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

interface BackupOptions {
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
/** The folder of the analytics tables within a backup. */
export const tablesFolder = 'analytics';

/**
 * Throws a StartError when there is nothing to back up, the data folder is damaged, the target has content or is inside
 * the data folder, or its disk is full, and the reason of an interruption. Leaves the target then as it was. The caller
 * ends the process after an interruption: threads of LMDB may go on copying.
 */
export async function backUp(options: BackupOptions): Promise<Manifest> {
  const { data, target } = options;
  refuseUnusableFiles(data);
  requireDataFolder(data);
  await refuseContent(target);
  refuseInside(target, data, 'the data folder');
  const removeTarget = createTarget(target);
  const release = tidyOnExit(removeTarget);
  try {
    return await fill(options);
  } catch (error) {
    // At once, so that what an interruption left running adds nothing meanwhile.
    removeTarget();
    throw isDiskFull(error, target) ? diskFull(target) : error;
  } finally {
    release();
  }
}

async function fill({ data, target, snapshots, includeKeys, signal }: BackupOptions): Promise<Manifest> {
  const startedAt = new Date().toISOString();
  const sinkPositions = await readStoredPositions(data, analyticsSinkGroup);
  const { _id, encryptionKeySha256, tables } = await snapshots.take();
  try {
    await unlessAborted(signal, () => copyStores(data, target, tables, signal));
  } finally {
    // A node that was stopped meanwhile removes its snapshots at its next start.
    await snapshots.drop(_id).catch(() => {});
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
  return unlessAborted(signal, complete);
}

/**
 * Settles as the work does, or rejects with the reason of the signal. The work goes on after a rejection. It does not
 * begin after the signal: nobody would wait for its failure.
 */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const end = new AbortController();
  const aborted = once(signal, 'abort', { signal: end.signal }).then(
    () => signal.throwIfAborted(),
    () => {},
  );
  try {
    return (await Promise.race([work(), aborted])) as T;
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
  const parts = await Promise.all(
    tables.flatMap(({ name, folder }) => (folder === null ? [] : [partsOf(data, name, folder)])),
  );
  await copyEnvironments(data, target, signal);
  for (const each of parts) {
    signal.throwIfAborted();
    await copyParts(each, join(target, tablesFolder, each.table));
  }
}

/** The frozen parts of a table. */
interface Parts {
  readonly table: string;
  readonly folder: string;
  /** All folders and files, so that one that is removed before it is copied is missed. */
  readonly names: readonly string[];
}

async function partsOf(data: string, table: string, relativeFolder: string): Promise<Parts> {
  const folder = join(data, tablesFolder, relativeFolder);
  if (!existsSync(folder))
    throw new StartError(`the running server has another data folder than ${data}; name it with --data`);
  return { table, folder, names: await readdir(folder, { recursive: true }) };
}

/** Copies the parts. A server that starts meanwhile removes them, and so does the fourth backup at the same time. */
async function copyParts({ folder, names }: Parts, target: string): Promise<void> {
  const removed = new StartError(
    'the tables were removed while they were copied, as by a restart of the server; run the backup again',
  );
  await cp(folder, target, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? removed : error;
  });
  const copied = new Set(await readdir(target, { recursive: true }));
  if (names.some((name) => !copied.has(name))) throw removed;
}

/** Copies keep the modes of their originals, which may be more open than those that this process creates. */
async function closeToOthers(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
}

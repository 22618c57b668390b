/**
 * An LMDB environment: a folder with one writer at a time and any number of readers, in several threads and processes.
 */
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Database, open, type RootDatabase } from 'lmdb';
import { fewFreePages } from '../../schemas/lmdb-options.js';
import { openInTurn } from './folder-lock.js';
import { createSpace, isDiskFull, type Space, storageFull, whenWritable } from './space.js';

/** Keys and values are bytes. A read returns a copy of the value. */
export type Table = Database<Buffer, Buffer>;

/** What a node watches of an environment while it runs. */
export interface Watched {
  /**
   * Removes entries of processes that were killed from the table of readers, and returns their number. LMDB reuses no
   * page that was freed after the oldest entry, so the file grows with every write until then.
   */
  clearDeadReaders(): number;
  /**
   * Throws when LMDB has stopped, as it does when it could not write the page that makes a commit visible. No write
   * transaction of the process settles from then on.
   */
  requireRunning(): void;
}

/** Watches an open LMDB file. */
export const watched = (root: RootDatabase): Watched => ({
  clearDeadReaders: () => root.readerCheck(),
  requireRunning() {
    root.resetReadTxn();
    root.doesExist('any name');
  },
});

/** An open LMDB file in this thread. Writes of all threads take turns. */
export interface Environment extends Watched {
  readonly path: string;
  table(name: string): Table;
  /**
   * Runs `write` in a write transaction, which concurrent calls share. `write` must not throw, because its changes
   * would be kept. While the disk is full the call waits, and runs `write` again.
   */
  transaction<T>(write: () => T): Promise<T>;
  /** Like `transaction`, but rejects with PortError `storage_full` when the disk is full. Nothing is written then. */
  attempt<T>(write: () => T): Promise<T>;
  /** Resolves when all commits of this thread so far are on disk. */
  flushed(): Promise<void>;
  /** Resolves when all commits of all threads so far are on disk. Does not wait for a writer. */
  synced(): Promise<void>;
  /** Drops the current snapshot, so that the next read sees the commits of other threads. */
  refresh(): void;
  close(): Promise<void>;
}

interface EnvironmentOptions {
  readonly path: string;
  /** Address space to reserve for the file, which itself grows only as needed. */
  readonly mapBytes: number;
  /**
   * true: a commit is on disk before it is visible, so that no reader acts on a commit that a power cut undoes.
   * false: a commit is visible at once and synced in the background. A power cut undoes the newest commits, in order.
   */
  readonly syncBeforeVisible: boolean;
  /** Requires that the folder and its tables exist. Nothing is written except an entry in the table of readers. */
  readonly readOnly?: boolean;
  /** Page size of a new file. Values larger than half a page take whole pages. Default: the system's, usually 4,096. */
  readonly pageBytes?: number;
  /** Default: no limit. */
  readonly space?: Space;
}

/** A method that the package's types lack. It calls back when everything visible is on disk. */
interface Syncable {
  sync(callback: (error?: Error) => void): void;
}

/** The package's error of a failed commit. The reason is a promise that rejects. */
interface CommitFailure extends Error {
  readonly commitError?: Promise<never>;
}

/** Runs an LMDB transaction. Rejects with the reason when its commit fails. */
export async function withReason<T>(transaction: () => Promise<T>): Promise<T> {
  try {
    return await transaction();
  } catch (error) {
    await (error as CommitFailure).commitError;
    throw error;
  }
}

/** Opens something of a folder. Errors of LMDB, which name no path, then have that of the folder. */
export function openNamed<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw Object.assign(error as Error, { path });
  }
}

/** Returns whether an error has one of LMDB's own codes, and not one of the system. */
const isOfLmdb = ({ code }: { readonly code?: unknown }): boolean => typeof code === 'number' && code < -30_000;

const maxTables = 32;

/** More than any environment has. */
const maxTablesOfAny = 64;

/** Opens an environment of a data folder in turn, to copy or search it. By default it is only read. */
export const openInFolder = (data: string, name: string, readOnly = true): Promise<RootDatabase> =>
  openInTurn(data, () => open({ path: join(data, name), noSubdir: false, maxDbs: maxTablesOfAny, readOnly }));

/** Opens the folder, and creates it unless `readOnly` is set. The caller closes the environment. */
export function openEnvironment({
  path,
  mapBytes,
  syncBeforeVisible,
  readOnly = false,
  pageBytes,
  space = createSpace(),
}: EnvironmentOptions): Environment {
  // The root keeps the default key encoding, because its keys are the names of tables.
  const openRoot = () =>
    open({
      path,
      noSubdir: false,
      mapSize: mapBytes,
      maxDbs: maxTables,
      overlappingSync: !syncBeforeVisible && !readOnly,
      // Nobody can await the promises of such batches: a commit on a full disk would end the process.
      eventTurnBatching: false,
      readOnly,
      ...fewFreePages,
      ...(pageBytes === undefined ? {} : { pageSize: pageBytes }),
    }) as RootDatabase & Syncable;
  const root = openNamed(path, openRoot);
  const commit = <T>(write: () => T): Promise<T> =>
    withReason(() => root.transaction(write)).catch((error: NodeJS.ErrnoException) => {
      throw isOfLmdb(error) ? Object.assign(error, { path }) : error;
    });

  return {
    path,
    table(name) {
      const openTable = (): Table | undefined => root.openDB(name, { keyEncoding: 'binary', encoding: 'binary' });
      const table = openNamed(path, openTable);
      if (table === undefined) throw new Error(`${path} has no table ${name}`);
      return table;
    },
    transaction: (write) => whenWritable(space, path, () => commit(write)),
    async attempt(write) {
      try {
        return await space.counted(() => commit(write));
      } catch (error) {
        if (!isDiskFull(error, path)) throw error;
        space.level = 'out';
        throw storageFull();
      }
    },
    async flushed() {
      await root.flushed;
    },
    async synced() {
      if (syncBeforeVisible) return;
      await promisify(root.sync).call(root);
    },
    refresh: () => root.resetReadTxn(),
    ...watched(root),
    close: () => root.close(),
  };
}

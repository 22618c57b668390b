/**
 * One LMDB environment: a folder, one writer at a time, readers that never wait. Several threads and processes may have
 * it open.
 */
import { promisify } from 'node:util';
import { type Database, open, type RootDatabase } from 'lmdb';
import { createSpace, isWantOfRoom, type Space, storageFull, whenRoom } from './space.js';

/** Key and value are bytes; the value that a read answers is a copy and stays valid. */
export type Table = Database<Buffer, Buffer>;

export interface Environment {
  table(name: string): Table;
  /**
   * Runs `write` inside a write transaction; several that wait share one. It must not throw: what it wrote before would
   * stay. While the disk is full it waits, and `write` runs again when a transaction had no room.
   */
  transaction<T>(write: () => T): Promise<T>;
  /** The same, once: rejects with PortError `storage_full` when there was no room. Nothing was written then. */
  attempt<T>(write: () => T): Promise<T>;
  /** Resolves when all that this thread has committed so far is on disk. */
  flushed(): Promise<void>;
  /** Resolves when all that any thread has committed so far is on disk. Doesn't wait for the writer. */
  synced(): Promise<void>;
  /** Forgets the snapshot that reads of this turn see, so that the next read sees what other threads have committed. */
  refresh(): void;
  close(): Promise<void>;
}

export interface EnvironmentOptions {
  readonly path: string;
  /** Address space to reserve for the file, which itself grows only as needed. */
  readonly mapBytes: number;
  /**
   * true: a commit reaches the disk before anybody sees it, so no reader can act on what a power cut takes back.
   * false: a commit is visible at once and synced behind; a power cut takes the newest commits back, in order.
   */
  readonly syncBeforeVisible: boolean;
  /**
   * The folder must exist then, and every table that is asked for; nothing is ever written to it but the reader's place
   * among the readers.
   */
  readonly readOnly?: boolean;
  /**
   * Of a new file. Values of more than half a page take whole pages of their own. Default: the system's, mostly 4,096.
   */
  readonly pageBytes?: number;
  /** Default: always enough. */
  readonly space?: Space;
}

/** A method of the package that its types leave out: what is visible is on disk when it calls back. */
interface Syncable {
  sync(callback: (error?: Error) => void): void;
}

/** What the package throws when a commit failed: the reason is a promise that rejects. */
interface CommitFailure extends Error {
  readonly commitError?: Promise<never>;
}

/** Runs an LMDB transaction; rejects with the reason when its commit failed. */
export async function withReason<T>(transaction: () => Promise<T>): Promise<T> {
  try {
    return await transaction();
  } catch (error) {
    await (error as CommitFailure).commitError;
    throw error;
  }
}

const maxTables = 32;

export function openEnvironment({
  path,
  mapBytes,
  syncBeforeVisible,
  readOnly = false,
  pageBytes,
  space = createSpace(),
}: EnvironmentOptions): Environment {
  // The root keeps its default key encoding: it holds the tables' names.
  const root = open({
    path,
    noSubdir: false,
    mapSize: mapBytes,
    maxDbs: maxTables,
    overlappingSync: !syncBeforeVisible && !readOnly,
    // Its batches have promises that nobody can wait for: a commit without room would end the process.
    eventTurnBatching: false,
    readOnly,
    ...(pageBytes === undefined ? {} : { pageSize: pageBytes }),
  }) as RootDatabase & Syncable;
  const commit = <T>(write: () => T): Promise<T> => withReason(() => root.transaction(write));

  return {
    table(name) {
      const table: Table | undefined = root.openDB(name, { keyEncoding: 'binary', encoding: 'binary' });
      if (table === undefined) throw new Error(`${path} has no table ${name}`);
      return table;
    },
    transaction: (write) => whenRoom(space, path, () => commit(write)),
    async attempt(write) {
      try {
        return await commit(write);
      } catch (error) {
        if (!isWantOfRoom(error, path)) throw error;
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
    close: () => root.close(),
  };
}

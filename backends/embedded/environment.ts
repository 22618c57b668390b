/** One LMDB environment: a folder, one writer at a time, readers that never wait. Several threads and processes may have it open. */
import { promisify } from 'node:util';
import { type Database, open, type RootDatabase } from 'lmdb';

/** Key and value are bytes; the value that a read answers is a copy and stays valid. */
export type Table = Database<Buffer, Buffer>;

export interface Environment {
  table(name: string): Table;
  /** Runs `write` inside a write transaction; several that wait share one. It must not throw: what it wrote before would stay. */
  transaction<T>(write: () => T): Promise<T>;
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
  /** The folder must exist then, and every table that is asked for; nothing is ever written to it but the reader's place among the readers. */
  readonly readOnly?: boolean;
  /** Of a new file. Values of more than half a page take whole pages of their own. Default: the system's, mostly 4,096. */
  readonly pageBytes?: number;
}

/** A method of the package that its types leave out: what is visible is on disk when it calls back. */
interface Syncable {
  sync(callback: (error?: Error) => void): void;
}

const maxTables = 32;

export function openEnvironment({
  path,
  mapBytes,
  syncBeforeVisible,
  readOnly = false,
  pageBytes,
}: EnvironmentOptions): Environment {
  // The root keeps its default key encoding: it holds the tables' names.
  const root = open({
    path,
    noSubdir: false,
    mapSize: mapBytes,
    maxDbs: maxTables,
    overlappingSync: !syncBeforeVisible && !readOnly,
    readOnly,
    ...(pageBytes === undefined ? {} : { pageSize: pageBytes }),
  }) as RootDatabase & Syncable;
  return {
    table(name) {
      const table: Table | undefined = root.openDB(name, { keyEncoding: 'binary', encoding: 'binary' });
      if (table === undefined) throw new Error(`${path} has no table ${name}`);
      return table;
    },
    transaction: (write) => root.transaction(write),
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

/** One LMDB environment: a folder, one writer at a time, readers that never wait. Several threads and processes may have it open. */
import { type Database, open } from 'lmdb';

/** Key and value are bytes; the value that a read answers is a copy and stays valid. */
export type Table = Database<Buffer, Buffer>;

export interface Environment {
  table(name: string): Table;
  /** Runs `write` inside a write transaction; several that wait share one. It must not throw: what it wrote before would stay. */
  transaction<T>(write: () => T): Promise<T>;
  /** Resolves when all that was committed so far is on disk. */
  flushed(): Promise<void>;
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
}

const maxTables = 32;

export function openEnvironment({ path, mapBytes, syncBeforeVisible }: EnvironmentOptions): Environment {
  // The root keeps its default key encoding: it holds the tables' names.
  const root = open({
    path,
    noSubdir: false,
    mapSize: mapBytes,
    maxDbs: maxTables,
    overlappingSync: !syncBeforeVisible,
    noMemInit: true,
  });
  return {
    table: (name) => root.openDB<Buffer, Buffer>(name, { keyEncoding: 'binary', encoding: 'binary' }),
    transaction: (write) => root.transaction(write),
    async flushed() {
      await root.flushed;
    },
    refresh: () => root.resetReadTxn(),
    close: () => root.close(),
  };
}

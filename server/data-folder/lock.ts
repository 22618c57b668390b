/** Claims a data folder for a process of the server. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type FolderLock, type HolderServices, takeLock } from '../../backends/embedded/folder-lock.js';
import { writesIn } from '../../backends/embedded/held-writes.js';
import { StartError } from '../failures.js';
import type { Part } from '../node.js';

/** Resolves when this process has the lock of the folder. Rejects with a StartError if another process uses it. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const lock = await takeLock(folder);
  if (lock === undefined) throw new StartError(`another process is using the data folder ${folder}`);
  return lock;
}

interface OpenedFolder {
  readonly data: string;
  /** The open LMDB files, by the name of their folder. */
  readonly environments: Readonly<Record<string, unknown>>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly calls: HolderServices['calls'];
}

/**
 * Serves the calls of commands, and lets them open the files, one after another. Nothing is written meanwhile. Stop it
 * before the files are closed.
 */
export function serveCommands(lock: FolderLock, { data, environments, logger, calls }: OpenedFolder): Part {
  const paths = Object.keys(environments).map((name) => join(data, name));
  const onLong = () =>
    logger.warn({ data }, 'writes wait for a command that opens the data folder: continue or end it');
  lock.serve({ holdWrites: writesIn(paths, onLong), calls });
  return { stop: async () => lock.stopServing() };
}

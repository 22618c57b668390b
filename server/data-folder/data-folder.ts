/**
 * The data folder, readable by its owner alone: it holds locations, hashes of keys, and the key that opens the secrets
 * of webhooks.
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';

const groupAndOthers = 0o077;

/**
 * Makes the folder where it is missing, and closes one that others may read, with all that is in it. From then on
 * everything that this process and its children create is for its owner alone. Throws when the folder can't be made;
 * one that can't be closed, since it belongs to another user, is reported.
 */
export function prepareDataFolder(folder: string, logger: Pick<Logger, 'info' | 'warn'>): void {
  // LMDB, chDB and the programs that draw maps create files in their own ways; all of them obey the mask.
  process.umask(groupAndOthers);
  mkdirSync(folder, { recursive: true });
  if (!isOpenToOthers(folder)) return;
  try {
    // The content first: a start that ends midway does the rest next time.
    const closed = closeContent(folder);
    close(folder);
    logger.info({ data: folder, closed }, 'closed the data folder to other users');
  } catch (error) {
    logger.warn({ data: folder, reason: (error as Error).message }, 'other users may read the data folder');
  }
}

const isOpenToOthers = (path: string): boolean => (lstatSync(path).mode & groupAndOthers) !== 0;

const close = (path: string): void => chmodSync(path, lstatSync(path).mode & 0o777 & ~groupAndOthers);

/** Answers how many files and folders others could read. Links are left alone: what they lead to isn't ours. */
function closeContent(folder: string): number {
  let closed = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink() || !isOpenToOthers(path)) continue;
    close(path);
    closed += 1;
  }
  return closed;
}

/**
 * Restricts the data folder to its owner: it contains locations, hashes of keys, and the key that decrypts the secrets
 * of webhooks.
 */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createFolder } from '../../schemas/create-folder.js';

const groupAndOthers = 0o077;

/**
 * Creates the folder if necessary, and removes the permissions of other users from it and its content. Everything that
 * this process and its children create later is accessible only to the owner. Throws if the folder can't be created. If
 * the permissions can't be changed, because it belongs to another user, logs a warning.
 */
export function prepareDataFolder(folder: string, logger: Pick<Logger, 'info' | 'warn'>): void {
  // The mask also applies to files that LMDB, chDB and drawing processes create.
  process.umask(groupAndOthers);
  createFolder(folder);
  if (!isOpenToOthers(folder)) return;
  try {
    // The content first: if this start is interrupted, the next one continues.
    const closed = closeContent(folder);
    close(folder);
    logger.info({ data: folder, closed }, 'removed the permissions of other users from the data folder');
  } catch (error) {
    logger.warn({ data: folder, reason: (error as Error).message }, 'other users can read the data folder');
  }
}

const isOpenToOthers = (path: string): boolean => (lstatSync(path).mode & groupAndOthers) !== 0;

const close = (path: string): void => chmodSync(path, lstatSync(path).mode & 0o777 & ~groupAndOthers);

/** Returns the number of changed files and folders. Links are skipped: their targets are not part of the folder. */
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

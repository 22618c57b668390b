/**
 * Restricts the data folder to its owner: it contains locations, hashes of keys, and the key that decrypts the secrets
 * of webhooks.
 */
import { chmodSync, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { isOfLock } from '../../backends/embedded/folder-lock.js';
import { createFolder } from '../../schemas/create-folder.js';
import { StartError } from '../failures.js';
import { unfinishedRestoreFile } from './unfinished-restore.js';

const groupAndOthers = 0o077;

/** Each folder in which a node has begun has one of them. */
const marks = [join('log', 'data.mdb'), 'read-model', 'encryption-key', 'encryption-key.sha256', unfinishedRestoreFile];
/** What commands and operators put into the folder before a node begins, and what systems do. */
const ofPreparation: ReadonlySet<string> = new Set(['admin-api-key', 'basemap', 'roads', 'lost+found', '.DS_Store']);
/** What a first start leaves that ended before it began, for example without its services. */
const isOfFirstStart = (name: string): boolean => isOfLock(name) || name === 'encryption-key.unfinished';

/**
 * Creates the folder if necessary, and removes the permissions of other users from it and its content. Everything that
 * this process and its children create later is accessible only to the owner. Throws if the folder can't be created or
 * is not Fenceline's. If the permissions can't be changed, because it belongs to another user, logs a warning.
 */
export function prepareDataFolder(folder: string, logger: Pick<Logger, 'info' | 'warn'>): void {
  // The mask also applies to files that LMDB, chDB and drawing processes create.
  process.umask(groupAndOthers);
  createFolder(folder);
  refuseFolderOfOthers(folder);
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

/** Throws a StartError for what may be a home folder, or the root of the system: others need their permissions. */
function refuseFolderOfOthers(folder: string): void {
  if (marks.some((name) => existsSync(join(folder, name)))) return;
  const other = readdirSync(folder).find((name) => !ofPreparation.has(name) && !isOfFirstStart(name));
  if (other === undefined) return;
  const problem = `it contains ${other}, and nothing of Fenceline; name an empty folder, or one that does not exist`;
  throw new StartError(`the data folder ${folder} can't be used: ${problem}`);
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

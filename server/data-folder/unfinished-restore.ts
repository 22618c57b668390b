/** Marks a data folder that a restore has not completed, so that no node starts on a part of the data. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../failures.js';

/** The file that a restore writes first and removes last. */
export const unfinishedRestoreFile = 'restore-unfinished';

/** Throws a StartError for a folder whose restore was interrupted. */
export function refuseUnfinishedRestore(data: string): void {
  if (existsSync(join(data, unfinishedRestoreFile)))
    throw new StartError(`the restore into ${data} was interrupted: empty the folder and run fenceline restore again`);
}

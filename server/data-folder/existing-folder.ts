/** Refuses what a command can't read as the data folder of a node. LMDB would end the process by a signal. */
import { hasLog } from '../../backends/embedded/reader.js';
import { StartError } from '../failures.js';
import { refuseDamagedFiles } from './damaged-files.js';
import { refuseUnfinishedRestore } from './unfinished-restore.js';

/** Throws a StartError when no node has begun in the folder, or a file is damaged, or a restore is unfinished. */
export function requireDataFolder(data: string): void {
  refuseDamagedFiles(data);
  if (!hasLog(data)) throw new StartError(`${data} is not a data folder of Fenceline; choose another with --data`);
  refuseUnfinishedRestore(data);
}

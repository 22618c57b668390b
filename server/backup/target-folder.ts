/** The folder that a backup or a restore fills: empty before, and as it was before after a failure. */
import { existsSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { createFolder } from '../../schemas/create-folder.js';
import { fileProblem } from '../../schemas/file-problem.js';
import { StartError } from '../failures.js';

/** Attempts to remove a folder to which a thread is still adding a file. */
const maxRetries = 10;

/**
 * Creates the folder if it is missing. Returns a function that removes its content, and each folder that was created
 * for it, unless others use that meanwhile.
 */
export function createTarget(folder: string): () => void {
  const created = createFolder(folder);
  return () => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true, maxRetries });
    try {
      for (const each of created) rmdirSync(each);
    } catch {
      // Another program has written into it, or it is gone already.
    }
  };
}

/** Returns the error of a full disk. The engines report a full disk in ways of their own. */
export const diskFull = (folder: string): StartError =>
  new StartError(`the disk of ${folder} is full, and nothing was left there`);

/** Throws a StartError unless the folder is missing or empty. */
export async function refuseContent(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new StartError(`${folder} can't be read: ${fileProblem(error)}`);
  });
  if (names.length > 0) throw new StartError(`${folder} is not empty; name a folder that is empty or missing`);
}

/**
 * Throws a StartError if the folder is inside the other one. Whoever owns the other one may remove it, or takes its
 * files for foreign ones.
 */
export function refuseInside(folder: string, outer: string, named: string): void {
  const [first] = relative(realPath(outer), realPath(folder)).split(sep);
  if (first !== '..') throw new StartError(`${folder} is inside ${named} ${outer}; name a folder outside of it`);
}

/** Returns the path without symbolic links, also of a folder that does not exist yet. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(resolve(path));
  return join(realPath(parent), basename(resolve(path)));
}

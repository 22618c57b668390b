/** Finds the optional package of the analytics engine. Loads nothing. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Whether chdb is installed. A package that is installed but can't be loaded is an error. */
export const isChdbInstalled = findsChdb(import.meta.url);

/**
 * Returns whether a module finds chdb with its library. The library is an optional package of its own for each
 * platform, and npm leaves it out without an error when it cannot fetch it.
 *
 * @param from is the path or the URL of the module.
 */
export function findsChdb(from: string | URL): boolean {
  try {
    const chdb = createRequire(from).resolve('chdb');
    const { optionalDependencies } = JSON.parse(readFileSync(join(dirname(chdb), 'package.json'), 'utf8'));
    return Object.keys(optionalDependencies).some((library) => isFound(library, chdb));
  } catch {
    return false;
  }
}

function isFound(name: string, from: string): boolean {
  try {
    createRequire(from).resolve(name);
    return true;
  } catch {
    return false;
  }
}

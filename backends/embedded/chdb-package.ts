/** Finds the optional package of the analytics engine. Loads nothing. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The module of the library; undefined if chdb is not installed. What is installed but can't be loaded is an error. */
export const chdbLibrary = findChdbLibrary(import.meta.url);

/** Whether this installation has analytics. */
export const isChdbInstalled = chdbLibrary !== undefined;

/**
 * Returns the path of the library's module that a module finds, or undefined if it does not find chdb with its library.
 * The library is an optional package of its own for each platform, and npm leaves it out without an error when it
 * cannot fetch it.
 *
 * @param from is the path or the URL of the module.
 */
export function findChdbLibrary(from: string | URL): string | undefined {
  try {
    const chdb = createRequire(from).resolve('chdb');
    const { optionalDependencies } = JSON.parse(readFileSync(join(dirname(chdb), 'package.json'), 'utf8'));
    for (const library of Object.keys(optionalDependencies)) {
      const found = resolved(library, chdb);
      if (found !== undefined) return found;
    }
    return undefined;
  } catch {
    return undefined;
  }
}

function resolved(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}

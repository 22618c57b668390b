/** Finds the optional package of the analytics engine. Loads nothing. */
import { createRequire } from 'node:module';

/** Returns whether chdb is installed. A package that is installed but can't be loaded is an error. */
export const isChdbInstalled = isInstalled();

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('chdb');
    return true;
  } catch {
    return false;
  }
}

import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the folder for what commands keep between runs: `$XDG_CACHE_HOME/fenceline`, by default `~/.cache/fenceline`.
 */
export const cacheFolder = (): string => join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fenceline');

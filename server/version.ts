/** The version of this Fenceline, from its package. */
import { readFileSync } from 'node:fs';

/** package.json lies above `cli/` in the sources and above `dist/cli/` in the build. */
function packageJson(): { version: string } {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error('package.json is missing');
}

export const { version } = packageJson();

/** The version of Fenceline, from package.json. */
import { readFileSync } from 'node:fs';

/** package.json is one folder up from the sources and two up from the build. */
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

/** The version of this build, such as `0.1.0`. */
export const { version } = packageJson();

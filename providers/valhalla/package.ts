/** Finds the optional package with Valhalla's programs and its library. Loads nothing. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const name = '@valhallajs/valhallajs';
const require = createRequire(import.meta.url);

/** Returns the program that builds tiles; undefined if the package is not installed or does not serve this platform. */
export function buildProgram(): string | undefined {
  try {
    const program = join(dirname(require.resolve(name)), process.platform, process.arch, 'valhalla_build_tiles');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether the package is installed and serves this platform. */
export const isInstalled = (): boolean => buildProgram() !== undefined;

/** Loads the library. Throws if it is not installed. */
export const loadLibrary = () => import(name) as Promise<typeof import('@valhallajs/valhallajs')>;

/** What errors and the log say when the optional package is missing. */
export const notInstalled =
  'the optional package @valhallajs/valhallajs is not installed or does not serve this platform; ' +
  'install it with "npm install @valhallajs/valhallajs@3.6.1", or set routing.provider and routing.url';

/**
 * The basemap, baked once for all servers of the tests. Each would bake its own before its first map: ten seconds of a
 * core at the low priority of drawing, which is longer than a request of a test may take while neighbours have the
 * machine.
 */
import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { program } from './server.js';

/** Its names are hashes of what it is made of: another version of the program bakes again. */
const cacheFolder = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));

/** Puts it where a server on this data folder looks for it. */
export async function layBasemap(dataFolder: string): Promise<void> {
  const env = { ...process.env, XDG_CACHE_HOME: cacheFolder };
  const query = 'width=100&height=100&center=0,0&zoom=1';
  await promisify(execFile)(process.execPath, [program, 'map', query, '-o', join(dataFolder, 'first-map.png')], {
    env,
  });
  // Not what another process is still writing.
  const filter = (source: string) => !extname(source) || source.endsWith('.pmtiles');
  await cp(join(cacheFolder, 'fenceline/basemap'), join(dataFolder, 'basemap'), { recursive: true, filter });
}

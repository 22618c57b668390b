/**
 * Reads MBTiles 1.3: a SQLite file of tiles, with rows counted from the south.
 *
 * The SQLite engine locks a file by creating a folder beside it. Several threads read one archive, its folder may be
 * read-only, and a lock left by a killed process would block all others. So each reader opens the file through a link
 * in a separate folder, locks it there for as long as it is open, and removes the folder. A killed process leaves none.
 */
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import sqlite from 'node-sqlite3-wasm';
import type { TileSource } from '../types.js';
import { plainAttribution } from './attribution.js';
import { decompressIfGzip } from './decompress.js';
import { boundsOf, maxSamples, maxSourceZoom, spread, tileInfo, zoomRange } from './metadata.js';

const rasterFormats = ['png', 'jpg', 'jpeg', 'webp'];

/**
 * Opens an archive by its path. Rejects when the file cannot be read or is not an archive. A file in write-ahead mode
 * must be converted first. Tiles of a file that is written over or replaced later are read from the new one.
 */
export async function openMbtiles(path: string): Promise<TileSource> {
  // The engine would name the link.
  if (!statSync(path).isFile()) throw new TypeError(`${path} is not a file`);
  const archive = new ArchiveFile(path);
  try {
    return await readArchive(archive);
  } catch (error) {
    archive.close();
    throw error;
  }
}

/** The open file. The engine reads it without waiting, so that a look at its version may do so too. */
class ArchiveFile {
  readonly #path: string;
  #version: string | undefined;
  #opened: { readonly database: sqlite.Database; readonly select: sqlite.Statement } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get database(): sqlite.Database {
    return this.#current().database;
  }

  /** Returns the row of a tile, counted from the south; null if there is none. */
  tile(zoom: number, column: number, row: number): unknown {
    return this.#current().select.get([zoom, column, row]);
  }

  close(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }

  /** Opens the file again if it is another one. A file that is missing for a moment is the one that is open. */
  #current() {
    const version = versionOf(this.#path) ?? this.#version;
    if (this.#opened === undefined || version !== this.#version) {
      this.close();
      const database = openLocked(this.#path);
      this.#opened = { database, select: database.prepare(selectTile) };
      this.#version = version;
    }
    return this.#opened;
  }
}

const selectTile = 'SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?';

function versionOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** Opens a file, and asks for its lock once: the folder of the lock is then removed. */
function openLocked(path: string): sqlite.Database {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-mbtiles-'));
  try {
    const link = join(folder, 'archive');
    symlinkSync(resolve(path), link);
    const database = new sqlite.Database(link, { readOnly: true, fileMustExist: true });
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      // The engine takes the lock when it first reads.
      database.get('SELECT count(*) FROM sqlite_schema');
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function readArchive(archive: ArchiveFile): Promise<TileSource> {
  const { database } = archive;
  const metadata = readMetadata(database);
  const zooms = database.get('SELECT min(zoom_level) AS first, max(zoom_level) AS last FROM tiles') as Record<
    string,
    number
  >;
  const bytesOf = async (row: unknown): Promise<Uint8Array | undefined> => {
    const data = (row as { tile_data: Uint8Array } | null)?.tile_data;
    return data && data.length > 0 ? decompressIfGzip(data) : undefined;
  };
  /** Returns a tile in the middle of each zoom. */
  const samples = async () => {
    const rows = wholeZooms(zooms).map((zoom) => database.get(middleTile, [zoom, zoom]));
    const tiles = await Promise.all(rows.map(bytesOf));
    return tiles.filter((bytes) => bytes !== undefined);
  };
  const isRaster = rasterFormats.includes(metadata.get('format') ?? '');
  return {
    ...(await tileInfo(vectorLayers(metadata.get('json')), isRaster, samples)),
    ...zoomRange(zooms.first, zooms.last),
    bounds: boundsOf(metadata.get('bounds')?.split(',') ?? []),
    attribution: plainAttribution(metadata.get('attribution')),
    tile: async (zoom, x, y) => bytesOf(archive.tile(zoom, x, 2 ** zoom - 1 - y)),
    close: async () => archive.close(),
  };
}

const middleTile = `SELECT tile_data FROM tiles WHERE zoom_level = ? AND tile_column >=
  (SELECT (min(tile_column) + max(tile_column)) / 2 FROM tiles WHERE zoom_level = ?) LIMIT 1`;

/** An archive without tiles has null zooms, and a damaged one has any. */
function wholeZooms({ first, last }: Record<string, number | null>): number[] {
  if (typeof first !== 'number' || typeof last !== 'number') return [];
  const zooms = Array.from({ length: maxSourceZoom + 1 }, (_, zoom) => zoom);
  return spread(
    zooms.filter((zoom) => zoom >= first && zoom <= last),
    maxSamples,
  );
}

function readMetadata(database: sqlite.Database): Map<string, string> {
  const rows = database.all('SELECT name, value FROM metadata') as { name: unknown; value: unknown }[];
  return new Map(rows.flatMap(({ name, value }) => (typeof value === 'string' ? [[String(name), value]] : [])));
}

function vectorLayers(json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json)?.vector_layers;
  } catch {
    return undefined;
  }
}

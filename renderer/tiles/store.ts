/**
 * An LRU cache of decoded tiles of all sources.
 *
 * A tile is fetched once for all maps that wait for it. A tile that cannot be fetched or read is `failed`, never an
 * exception: the map is drawn without it, and the next map tries again.
 */
import { crc32 } from 'node:zlib';
import type { Image } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import { createNumbering } from '../numbering.js';
import type { TileSource } from '../types.js';
import { decodeRasterTile } from './raster-tile.js';
import { decodeVectorTile, type VectorTile } from './vector-tile.js';

/** A tile that was read, or why there is none. `key` identifies its contents within its store. */
export type Tile =
  | { readonly kind: 'vector'; readonly key: string; readonly tile: VectorTile }
  | { readonly kind: 'raster'; readonly key: string; readonly image: Image }
  /** The source has no tile there. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Bytes of an entry beside its content. */
const entryBytes = 200;
/** Time that a tile is cached, because a server's tiles change. */
const defaultKeptForMs = 60 * 60_000;

/** The tiles that a renderer has read lately. */
export class TileStore {
  private readonly tiles: LRUCache<string, Tile>;
  private readonly pending = new Map<string, Promise<Tile>>();
  private readonly numberOf = createNumbering<TileSource>();

  /** Creates a cache of about this many bytes. */
  constructor(maxBytes: number, keptForMs = defaultKeptForMs) {
    this.tiles = new LRUCache({ maxSize: maxBytes, ttl: keptForMs, sizeCalculation: weightBytes });
  }

  /** Returns a tile. `key` identifies the contents of a tile. */
  get(source: TileSource, zoom: number, x: number, y: number): Promise<Tile> {
    const key = `${this.numberOf(source)}/${zoom}/${x}/${y}`;
    const known = this.tiles.get(key);
    if (known) return Promise.resolve(known);
    let pending = this.pending.get(key);
    if (!pending) {
      pending = this.load(source, key, zoom, x, y).finally(() => this.pending.delete(key));
      this.pending.set(key, pending);
    }
    return pending;
  }

  private async load(source: TileSource, key: string, zoom: number, x: number, y: number): Promise<Tile> {
    const tile = await readTile(source, key, zoom, x, y).catch((error: unknown): Tile => ({ kind: 'failed', error }));
    if (tile.kind !== 'failed') this.tiles.set(key, tile);
    return tile;
  }
}

async function readTile(source: TileSource, key: string, zoom: number, x: number, y: number): Promise<Tile> {
  const bytes = await source.tile(zoom, x, y);
  if (!bytes) return { kind: 'empty' };
  const contents = `${key} ${crc32(bytes)}`;
  if (source.kind === 'vector')
    return { kind: 'vector', key: contents, tile: decodeVectorTile(bytes, { z: zoom, x, y }) };
  return { kind: 'raster', key: contents, image: await decodeRasterTile(bytes) };
}

/** Estimates the memory of a tile in bytes. */
export function weightBytes(tile: Tile): number {
  if (tile.kind === 'vector') return entryBytes + tile.tile.weightBytes;
  if (tile.kind === 'raster') return entryBytes + 4 * tile.image.width * tile.image.height;
  return entryBytes;
}

/**
 * Loads the tiles of a map within a limit of memory.
 *
 * Input: the places of tiles. Output: the tiles, in the same order. A few are loaded at a time, so that a map over the
 * limit stops before all of its tiles are in memory.
 */
import { ApiError } from '../../schemas/errors.js';
import type { TileSource } from '../types.js';
import { type Tile, type TileStore, weightBytes } from './store.js';

interface Place {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
}

/** Tiles of a source that are loaded at a time. Raster tiles are smaller, and a map has four times as many. */
const maxLoading = { vector: 8, raster: 32 } as const;
const mebibyte = 2 ** 20;

/** Loads the tiles of one map. */
export class TileLoader {
  private readonly counted = new Set<Tile>();
  private leftBytes: number;

  /** Creates a loader for one map, whose different tiles may take this many bytes together. */
  constructor(
    private readonly store: TileStore,
    private readonly maxBytes: number,
  ) {
    this.leftBytes = maxBytes;
  }

  /** Returns the tiles of a source. Rejects with ApiError `map_too_large` when those of the map exceed the limit. */
  async load(source: TileSource, places: readonly Place[]): Promise<Tile[]> {
    const tiles: Tile[] = [];
    const waiting = places.entries();
    const work = async (): Promise<void> => {
      for (const [index, { zoom, x, y }] of waiting) {
        this.confirmWithin();
        const tile = await this.store.get(source, zoom, x, y);
        this.count(tile);
        tiles[index] = tile;
      }
    };
    await Promise.all(Array.from({ length: maxLoading[source.kind] }, work));
    return tiles;
  }

  /** Views of a small world show a tile several times. */
  private count(tile: Tile): void {
    if (this.counted.has(tile)) return;
    this.counted.add(tile);
    this.leftBytes -= weightBytes(tile);
    this.confirmWithin();
  }

  private confirmWithin(): void {
    if (this.leftBytes >= 0) return;
    const most = Math.floor(this.maxBytes / mebibyte);
    throw new ApiError(
      'map_too_large',
      `the tiles in view take more than ${most} MiB of memory: choose a smaller map or a higher zoom`,
    );
  }
}

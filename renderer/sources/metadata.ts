/** Reads the metadata of archives and servers, and inspects a tile where metadata is missing. */
import { loadSharp } from '../sharp.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import type { Bounds, TileSource } from '../types.js';
import { tileSizePx } from '../view/projection.js';

/** Maximum zoom of tiles. */
export const maxSourceZoom = 24;

/** Number of tiles that are inspected where metadata names no layers. Tiles of low zooms or of the sea have few. */
export const maxSamples = 12;

/** Tiles to inspect, read when they are needed. */
export type Samples = () => Promise<readonly Uint8Array[]>;

/** What the metadata of an archive says of its tiles. */
export type TileInfo = Pick<TileSource, 'kind' | 'tileSizePx' | 'layers'>;

/**
 * Returns what the tiles of a source are. Vector tiles whose layers the metadata names are not inspected. Of others the
 * bytes decide, because metadata is often missing or wrong; `isRaster` decides without a tile. Layers are null for
 * vector tiles without a sample. Rejects when no sample is a tile.
 */
export async function tileInfo(vectorLayers: unknown, isRaster: boolean, samples: Samples): Promise<TileInfo> {
  const named = namesIn(vectorLayers);
  if (named.length > 0 && !isRaster) return { kind: 'vector', tileSizePx, layers: named };
  const tiles = await samples();
  const picture = tiles.find(isPicture);
  if (picture || (isRaster && tiles.length === 0)) return { kind: 'raster', ...(await rasterInfo(picture)) };
  return { kind: 'vector', tileSizePx, layers: tiles.length > 0 ? layersIn(tiles) : null };
}

/** Returns the layers of all tiles that can be read. Throws when none can. */
function layersIn(tiles: readonly Uint8Array[]): string[] {
  const names = new Set<string>();
  const failures: unknown[] = [];
  for (const bytes of tiles) {
    try {
      for (const name of decodeVectorTile(bytes).layers.keys()) names.add(name);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length < tiles.length) return [...names];
  throw new TypeError(`the tiles are neither vector tiles nor PNG, JPEG or WebP: ${(failures[0] as Error).message}`);
}

/** Tiles are as wide as the first picture, or 256 pixels. */
async function rasterInfo(picture: Uint8Array | undefined): Promise<Pick<TileInfo, 'tileSizePx' | 'layers'>> {
  if (!picture) return { tileSizePx: 256, layers: null };
  const sharp = await loadSharp();
  return { tileSizePx: (await sharp(picture).metadata()).width, layers: null };
}

/** Returns up to `count` items, evenly spread, with the first and the last. */
export function spread<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items];
  if (count === 1) return [items[Math.floor(items.length / 2)]!];
  return Array.from({ length: count }, (_, i) => items[Math.round((i * (items.length - 1)) / (count - 1))]!);
}

function namesIn(vectorLayers: unknown): string[] {
  if (!Array.isArray(vectorLayers)) return [];
  return vectorLayers.map((layer) => layer?.id).filter((id) => typeof id === 'string');
}

/** Returns whether the bytes begin like PNG, JPEG or WebP. No vector tile does. */
export function isPicture(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return /^(\x89PNG|\xff\xd8\xff|RIFF[\s\S]{4}WEBP)/.test(start);
}

/** Returns the valid zooms of a source, whatever its metadata claims. */
export function zoomRange(minZoom: unknown, maxZoom: unknown): { readonly minZoom: number; readonly maxZoom: number } {
  const last = wholeZoom(maxZoom, maxSourceZoom);
  return { minZoom: Math.min(wholeZoom(minZoom, 0), last), maxZoom: last };
}

function wholeZoom(value: unknown, otherwise: number): number {
  const zoom = Math.trunc(Number(value ?? otherwise));
  return zoom >= 0 && zoom <= maxSourceZoom ? zoom : otherwise;
}

/** Returns the box of these values, or null when they are none. A box across the antimeridian is none. */
export function boundsOf(values: readonly unknown[]): Bounds | null {
  const [west, south, east, north] = values.map((value) => (value === '' ? Number.NaN : Number(value)));
  const isBox = values.length >= 4 && west! < east! && south! < north!;
  return isBox && west! >= -180 && east! <= 180 && south! >= -90 && north! <= 90
    ? [west!, south!, east!, north!]
    : null;
}

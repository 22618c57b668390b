/** Reads the metadata of archives and servers, and inspects a tile where metadata is missing. */

import { loadSharp } from '../sharp.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';
import type { Bounds } from '../types.js';

/** Maximum zoom of tiles. */
export const maxSourceZoom = 24;

/** Number of tiles that are inspected where metadata names no layers. Tiles of low zooms or of the sea have few. */
export const maxSamples = 12;

/** Tiles to inspect, read when they are needed. */
export type Samples = () => Promise<readonly Uint8Array[]>;

/**
 * Returns the layer names of a vector source, from metadata, or of all sampled tiles. Returns null when neither has
 * them. Rejects when no sample is a vector tile.
 */
export async function layerNames(vectorLayers: unknown, samples: Samples): Promise<readonly string[] | null> {
  const named = namesIn(vectorLayers);
  if (named.length > 0) return named;
  const tiles = await samples();
  const names = new Set<string>();
  const failures: unknown[] = [];
  for (const bytes of tiles) {
    try {
      for (const name of decodeVectorTile(bytes).layers.keys()) names.add(name);
    } catch (error) {
      failures.push(error);
    }
  }
  if (tiles.length > 0 && failures.length === tiles.length) throw failures[0];
  return tiles.length > 0 ? [...names] : null;
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

/** Returns the width of a raster source's images, or 256 without a tile to inspect. */
export async function rasterTileSizePx(samples: Samples): Promise<number> {
  const [bytes] = await samples();
  if (!bytes) return 256;
  const sharp = await loadSharp();
  return (await sharp(bytes).metadata()).width;
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

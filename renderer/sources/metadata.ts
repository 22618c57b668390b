/** What archives and servers say about their tiles, and what a look at one tile tells when they don't. */

import { loadSharp } from '../sharp.js';
import { decodeVectorTile } from '../tiles/vector-tile.js';

/** Zooms beyond which tile numbers aren't drawn. */
export const maxSourceZoom = 24;

/** The names of a vector source's layers; `sample` reads one of its tiles. Null when neither tells. */
export async function layerNames(
  vectorLayers: unknown,
  sample: () => Promise<Uint8Array | undefined>,
): Promise<readonly string[] | null> {
  const named = namesIn(vectorLayers);
  if (named.length > 0) return named;
  const bytes = await sample();
  return bytes ? [...decodeVectorTile(bytes).layers.keys()] : null;
}

function namesIn(vectorLayers: unknown): string[] {
  if (!Array.isArray(vectorLayers)) return [];
  return vectorLayers.map((layer) => layer?.id).filter((id) => typeof id === 'string');
}

/** Whether it begins as a PNG, JPEG or WebP does; no vector tile does. */
export function isPicture(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return /^(\x89PNG|\xff\xd8\xff|RIFF[\s\S]{4}WEBP)/.test(start);
}

/** The width of a raster source's images; 256 when there is no tile to look at. */
export async function rasterTileSizePx(sample: () => Promise<Uint8Array | undefined>): Promise<number> {
  const bytes = await sample();
  if (!bytes) return 256;
  const sharp = await loadSharp();
  return (await sharp(bytes).metadata()).width;
}

/** The zooms that a source has, whatever its metadata claim. */
export function zoomRange(minZoom: unknown, maxZoom: unknown): { readonly minZoom: number; readonly maxZoom: number } {
  const last = wholeZoom(maxZoom, maxSourceZoom);
  return { minZoom: Math.min(wholeZoom(minZoom, 0), last), maxZoom: last };
}

function wholeZoom(value: unknown, otherwise: number): number {
  const zoom = Math.trunc(Number(value ?? otherwise));
  return zoom >= 0 && zoom <= maxSourceZoom ? zoom : otherwise;
}

/** Tiles of a server, by a URL with {z}, {x} and {y} in it. */

import type { TileSource } from '../types.js';
import { tileSizePx } from '../view/projection.js';
import { plainAttribution } from './attribution.js';
import { decompressIfGzip } from './decompress.js';
import type { FetchBytes } from './fetch.js';
import { layerNames, zoomRange } from './metadata.js';

export interface XyzOptions {
  readonly kind: 'vector' | 'raster';
  /** With {z}, {x}, {y}; {-y} for rows counted from the south. */
  readonly urlTemplate: string;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** Of raster images, 256 or 512; vector tiles are made for 512. */
  readonly tileSizePx: number;
  /** May be HTML. */
  readonly attribution: string;
}

/** Statuses that say: here is no tile. */
const noTile = [204, 404, 410];

/** A source over a server. Where the first tile can't be had its layers stay unknown. */
export async function openXyz(options: XyzOptions, fetchBytes: FetchBytes): Promise<TileSource> {
  const { kind, urlTemplate } = options;
  const zooms = zoomRange(options.minZoom, options.maxZoom);

  const tile = async (zoom: number, x: number, y: number): Promise<Uint8Array | undefined> => {
    const { status, bytes } = await fetchBytes(tileUrl(urlTemplate, zoom, x, y), {});
    if (noTile.includes(status) || (status === 200 && bytes.length === 0)) return undefined;
    if (status !== 200) throw new Error(`The tile server answers with status ${status}`);
    return kind === 'vector' ? decompressIfGzip(bytes) : bytes;
  };
  const sample = () => tile(zooms.minZoom, 0, 0).catch(() => undefined);
  return {
    kind,
    ...zooms,
    tileSizePx: kind === 'vector' ? tileSizePx : options.tileSizePx,
    attribution: plainAttribution(options.attribution),
    layers: kind === 'vector' ? await layerNames(undefined, sample) : null,
    tile,
    close: async () => {},
  };
}

function tileUrl(template: string, zoom: number, x: number, y: number): string {
  const values: Readonly<Record<string, number>> = { z: zoom, x, y, '-y': 2 ** zoom - 1 - y };
  return template.replace(/\{(z|x|y|-y)\}/g, (_whole, name: string) => String(values[name]));
}

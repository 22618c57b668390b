/** Cuts features into vector tiles. Pure. */

import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature } from 'geojson';
import GeoJSONVT from 'geojson-vt';
import type { ArchiveTile } from './pmtiles-archive.js';

/**
 * One layer from its first zoom to its last. Features with a property `min_zoom` are in tiles from there on; all are in
 * those of the last zoom.
 */
export interface ZoomedLayer {
  readonly name: string;
  readonly minZoom: number;
  readonly maxZoom: number;
  readonly features: readonly Feature[];
}

/** Units across a tile, and how far around it features reach: eight pixels of 512. */
const extent = 4096;
const buffer = 64;

/** All tiles that have anything in them; the layers of a tile are in the order given. */
export function cutTiles(layers: readonly ZoomedLayer[]): ArchiveTile[] {
  const tiles = new Map<string, ArchiveTile>();
  for (const layer of layers) {
    for (const { zoom, x, y, bytes } of cutLayer(layer)) {
      const key = `${zoom}/${x}/${y}`;
      // A tile is a sequence of layers: those of one after those of another are a tile again.
      tiles.set(key, { zoom, x, y, bytes: Buffer.concat([tiles.get(key)?.bytes ?? new Uint8Array(), bytes]) });
    }
  }
  return [...tiles.values()];
}

/** The layer's tiles, each with this layer only: what the tiler makes of them is large, and gone with the next. */
function* cutLayer({ name, minZoom, maxZoom, features }: ZoomedLayer): Generator<ArchiveTile> {
  const everyTile = { indexMaxZoom: maxZoom, indexMaxPoints: 0 };
  const index = new GeoJSONVT(
    { type: 'FeatureCollection', features: [...features] },
    { maxZoom, extent, buffer, ...everyTile },
  );
  for (const { z, x, y } of index.tileCoords) {
    if (z < minZoom) continue;
    const found = index.getTile(z, x, y)?.features ?? [];
    const shown =
      z === maxZoom ? found : found.filter(({ tags }) => ((tags?.min_zoom as number | undefined) ?? 0) <= z);
    if (shown.length === 0) continue;
    yield { zoom: z, x, y, bytes: fromGeojsonVt({ [name]: { features: shown } }, { version: 2, extent }) };
  }
}

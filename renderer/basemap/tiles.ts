/** Cuts features into vector tiles. Pure. */
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { Feature } from 'geojson';
import GeoJSONVT from 'geojson-vt';
import type { ArchiveTile } from './pmtiles-archive.js';

/**
 * A layer with its first and last zoom. Features with a property `min_zoom` are in tiles from that zoom on. The last
 * zoom has all features.
 */
export interface ZoomedLayer {
  readonly name: string;
  readonly minZoom: number;
  readonly maxZoom: number;
  readonly features: readonly Feature[];
}

/** Tile extent and buffer in tile units. The buffer is eight pixels of 512. */
const extent = 4096;
const buffer = 64;

/** Returns all non-empty tiles, and the names of the layers. The layers of a tile keep the given order. */
export function cutTiles(layers: Iterable<ZoomedLayer>): { readonly tiles: ArchiveTile[]; readonly names: string[] } {
  const tiles = new Map<string, ArchiveTile>();
  const names = new Set<string>();
  for (const layer of layers) {
    names.add(layer.name);
    for (const { zoom, x, y, bytes } of cutLayer(layer)) {
      const key = `${zoom}/${x}/${y}`;
      // A tile is a sequence of layers, so concatenated layers form a tile.
      tiles.set(key, { zoom, x, y, bytes: Buffer.concat([tiles.get(key)?.bytes ?? new Uint8Array(), bytes]) });
    }
  }
  return { tiles: [...tiles.values()], names: [...names] };
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

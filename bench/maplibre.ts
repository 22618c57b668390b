/** Measures the peer MapLibre GL JS in headless Chromium, without a graphics card: the same style, tiles and views. */
import { openArchive } from '../renderer/sources/open.js';
import { detectSchema } from '../renderer/sources/schema.js';
import { builtInStyle } from '../renderer/styles/built-in.js';
import { localizeStyle } from '../renderer/styles/language.js';
import type { TileSource } from '../renderer/types.js';
import { coverTiles, tileZoom } from '../renderer/view/projection.js';
import { missingBrowser } from '../testing/chromium.js';
import { openMapLibre } from '../testing/maplibre.js';
import type { ServedFile } from '../testing/memory-server.js';
import { percentile, type Row } from './case.js';
import { height, type Scene, type View, views, width } from './map-scenes.js';

/** Returns whether there is a browser for MapLibre GL JS, and warns if there is none. */
export function hasBrowser(): boolean {
  if (missingBrowser !== undefined) console.warn(`MapLibre GL JS is not measured: ${missingBrowser}`);
  return missingBrowser === undefined;
}

/**
 * Returns the time from the call to a PNG, for a map that is moved and for a new map each. The start of the browser is
 * not counted.
 */
export async function mapLibreRows(
  scene: Scene & { readonly archive: string },
  scale: number,
  rounds: number,
  count: number,
): Promise<readonly [warm: Row, fresh: Row]> {
  const source = await openArchive(scene.archive);
  const all = Array.from({ length: rounds }, (_, round) => views(scene, count, 1 + round));
  const map = await openMapLibre(await tilesOf(source, all.flat()), { width, height });
  try {
    const style = JSON.stringify(styleOf(source, map.url));
    const [first] = all[0] as [View];
    const freshMs: number[] = [];
    for (let i = 0; i <= rounds; i++) freshMs.push((await map.fresh(style, first, scale)).ms);
    for (const view of all[0] as View[]) await map.jump(view);
    const medians: number[] = [];
    for (const round of all) {
      const times: number[] = [];
      for (const view of round) times.push((await map.jump(view)).ms);
      medians.push(percentile(times, 0.5));
    }
    return [
      { what: `${scene.what} @${scale}x: MapLibre GL JS in Chromium, median`, unit: 'ms', rounds: medians },
      { what: `${scene.what} @${scale}x: the same, a new map each`, unit: 'ms', rounds: freshMs.slice(1) },
    ];
  } finally {
    await map.close();
    await source.close();
  }
}

const tilePath = (zoom: number, x: number, y: number): string => `/tiles/${zoom}/${x}/${y}`;

async function tilesOf(source: TileSource, all: readonly View[]): Promise<Map<string, ServedFile>> {
  const tiles = new Map<string, ServedFile>();
  for (const view of all) {
    const places = coverTiles({ ...view, width, height, scale: 1 }, tileZoom(view.zoom, source) ?? 0);
    for (const { zoom, x, y } of places) {
      const bytes = await source.tile(zoom, x, y);
      if (bytes) tiles.set(tilePath(zoom, x, y), { type: 'application/x-protobuf', bytes });
    }
  }
  return tiles;
}

function styleOf(source: TileSource, url: string) {
  const style = localizeStyle(builtInStyle('svc-default-v1', detectSchema(source) ?? 'openmaptiles'), 'en');
  const tiles = [`${url}${tilePath(0, 0, 0).replace('/0/0/0', '/{z}/{x}/{y}')}`];
  return { ...style, sources: { map: { type: 'vector', tiles, minzoom: source.minZoom, maxzoom: source.maxZoom } } };
}

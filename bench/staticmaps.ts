/**
 * Measures the peer `staticmaps` (npm) in its best case: whole zooms, with every tile already drawn by us from the same
 * archive and kept in memory.
 *
 * It is not a dependency, because it includes another image library. Run `npm install staticmaps` in a folder, and pass
 * its `node_modules`.
 */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { createMapRenderer } from '../renderer/map.js';
import { worldPixel, worldPosition } from '../renderer/view/projection.js';
import { type ServedFile, serveFromMemory } from '../testing/memory-server.js';
import { percentile, type Row } from './case.js';
import { height, requestOf, type Scene, type View, views, width } from './map-scenes.js';

interface StaticMap {
  render(center: readonly number[], zoom: number): Promise<void>;
  readonly image: { buffer(type: string, options: object): Promise<Buffer> };
}
type StaticMaps = new (options: object) => StaticMap;

/** Its world is 256 pixels wide at zoom 0. */
const tilePx = 256;
const peerZoom = ({ zoom }: View): number => Math.floor(zoom) + 1;

/** Measures milliseconds to a PNG, one map after the other. */
export async function staticmapsRow(
  nodeModules: string,
  scene: Scene,
  scale: number,
  count: number,
  cacheFolder: string,
): Promise<Row> {
  const Peer = createRequire(join(resolve(nodeModules), 'peer.js'))('staticmaps') as StaticMaps;
  const rounds = Array.from({ length: 3 }, (_, round) => views(scene, count, 1 + round));
  const server = await serveFromMemory(await tilesOf(rounds.flat(), scene, scale, cacheFolder));
  const draw = async (view: View): Promise<number> => {
    const startedAt = performance.now();
    const sizes = { width: width * scale, height: height * scale, tileSize: tilePx * scale };
    const map = new Peer({
      ...sizes,
      tileUrl: `${server.url}/{z}/{x}/{y}`,
      tileRequestLimit: 16,
      zoomRange: { min: 1, max: 20 },
    });
    await map.render(view.center, peerZoom(view));
    await map.image.buffer('image/png', { compressionLevel: 3 });
    return performance.now() - startedAt;
  };
  try {
    for (const view of rounds[0] as View[]) await draw(view);
    const medians: number[] = [];
    for (const round of rounds) {
      const times: number[] = [];
      for (const view of round) times.push(await draw(view));
      medians.push(percentile(times, 0.5));
    }
    return { what: `${scene.what} @${scale}x: staticmaps with ready tiles, median`, unit: 'ms', rounds: medians };
  } finally {
    await server.close();
  }
}

/** Returns all tiles in the views. */
async function tilesOf(
  all: readonly View[],
  scene: Scene,
  scale: number,
  cacheFolder: string,
): Promise<Map<string, ServedFile>> {
  const renderer = await createMapRenderer({ archive: scene.archive, cacheFolder });
  const tiles = new Map<string, ServedFile>();
  for (const view of all) {
    const zoom = peerZoom(view);
    const [x, y] = worldPixel(view.center, zoom - 1);
    for (let column = Math.floor((x - width / 2) / tilePx); column * tilePx < x + width / 2; column++) {
      for (let row = Math.floor((y - height / 2) / tilePx); row * tilePx < y + height / 2; row++) {
        const path = `/${zoom}/${column}/${row}`;
        if (tiles.has(path)) continue;
        const center = worldPosition([(column + 0.5) * tilePx, (row + 0.5) * tilePx], zoom - 1);
        const request = { ...requestOf({ center, zoom: zoom - 1 }, scale), width: tilePx, height: tilePx };
        tiles.set(path, { type: 'image/png', bytes: (await renderer.render(request)).bytes });
      }
    }
  }
  await renderer.close();
  return tiles;
}

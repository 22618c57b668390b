/** Maps, drawn in processes of their own for the owners that ask for them. */
import type { Validated } from '../../schemas/errors.js';
import type { RasterIcon } from '../icons/rasterize.js';
import { mapCostMs } from '../request/cost.js';
import type { Unsupported } from '../style/unsupported.js';
import type { DrawnMap, MapRequest, Sprites, Uploads } from '../types.js';
import { createPool, type Done, type Order, type PoolOptions } from './pool.js';
import { createTileReports } from './tile-reports.js';

/** All reject as {@link Pool.run} does. `owner` is whose share of the processes is used. */
export interface DrawingPool {
  draw(
    owner: string,
    request: MapRequest,
    icons: ReadonlyMap<string, RasterIcon>,
    style?: Uploads['style'],
    sprites?: Sprites,
  ): Promise<Done<DrawnMap>>;
  /** As {@link MapRenderer} does: validating a large style takes a tenth of a second. */
  checkStyle(owner: string, json: Uint8Array): Promise<Validated<Unsupported[]>>;
  checkSprites(owner: string, style: Uint8Array, sprites: Sprites): Promise<Unsupported[]>;
  /** Maps in hand are given up. */
  close(): Promise<void>;
}

const noSprites: Sprites = { files: [], missing: 0 };

/** What a map costs however small it is, in pixels of a large one. */
const minPixels = 100_000;
const checkCostMs = 100;

const pixelsOf = ({ width, height, scale }: MapRequest): number => Math.max(minPixels, width * height * scale * scale);
const check = (owner: string): Order => ({ owner, costMs: checkCostMs, pixels: minPixels });

export function createDrawingPool(options: Omit<PoolOptions, 'purpose'>): DrawingPool {
  const pool = createPool({ ...options, purpose: 'maps' });
  const reportTiles = createTileReports(options.onProblem);
  return {
    async draw(owner, request, icons, style = null, sprites = noSprites) {
      const order = { owner, costMs: mapCostMs(request, style !== null), pixels: pixelsOf(request) };
      const map = await pool.run({ kind: 'draw', request, icons, style, sprites }, order);
      reportTiles(map.result);
      return map;
    },
    checkStyle: async (owner, style) => (await pool.run({ kind: 'checkStyle', style }, check(owner))).result,
    checkSprites: async (owner, style, sprites) =>
      (await pool.run({ kind: 'checkSprites', style, sprites }, check(owner))).result,
    close: () => pool.close(),
  };
}

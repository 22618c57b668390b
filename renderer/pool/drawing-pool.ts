/** Draws maps in a pool of processes that owners share fairly. */
import type { Validated } from '../../schemas/errors.js';
import type { RasterIcon } from '../icons/rasterize.js';
import { mapCostMs } from '../request/cost.js';
import type { Unsupported } from '../style/unsupported.js';
import type { DrawnMap, MapRequest, Sprites, Uploads } from '../types.js';
import { createPool, type Done, type JobOptions, type PoolOptions } from './pool.js';
import { createTileReports } from './tile-reports.js';

/** All methods reject like {@link Pool.run}. `owner` is charged for the processor time. */
export interface DrawingPool {
  draw(
    owner: string,
    request: MapRequest,
    icons: ReadonlyMap<string, RasterIcon>,
    style?: Uploads['style'],
    sprites?: Sprites,
  ): Promise<Done<DrawnMap>>;
  /** Checks a style like {@link MapRenderer}. Runs in the pool, because a large style takes 100 ms. */
  checkStyle(owner: string, json: Uint8Array): Promise<Validated<Unsupported[]>>;
  checkSprites(owner: string, style: Uint8Array, sprites: Sprites): Promise<Unsupported[]>;
  /** Ends the processes. Waiting and running maps are rejected. */
  close(): Promise<void>;
}

const noSprites: Sprites = { files: [], missing: 0 };

/** Minimum cost of a map in pixels. */
const minPixels = 100_000;
const checkCostMs = 100;

const pixelsOf = ({ width, height, scale }: MapRequest): number => Math.max(minPixels, width * height * scale * scale);
const check = (owner: string): JobOptions => ({ owner, costMs: checkCostMs, pixels: minPixels });

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

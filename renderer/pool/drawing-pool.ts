/** Draws maps in a pool of processes that owners share fairly. */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { ApiError, type Validated } from '../../schemas/errors.js';
import type { RasterIcon } from '../icons/rasterize.js';
import { mapCostMs, webFileCostMs, webStyleCostMs } from '../request/cost.js';
import type { Unsupported } from '../style/unsupported.js';
import type { DrawnMap, MapRequest, Sprites, Uploads } from '../types.js';
import type { WebFile, WebFileRequest } from '../web/requests.js';
import { createFontReports } from './font-reports.js';
import type { Works } from './messages.js';
import { createPool, type Done, type JobOptions, type PoolOptions } from './pool.js';
import { createTileReports, cutLayerProblem } from './tile-reports.js';

interface DrawOptions {
  /** Null: the map has a built-in style. */
  readonly style?: Uploads['style'];
  readonly sprites?: Sprites;
  readonly signal?: AbortSignal | undefined;
}

/** All methods reject like {@link Pool.run}. `owner` is charged for the processor time. */
export interface DrawingPool {
  draw(
    owner: string,
    request: MapRequest,
    icons: ReadonlyMap<string, RasterIcon>,
    options?: DrawOptions,
  ): Promise<Done<DrawnMap>>;
  /** Checks a style like {@link MapRenderer}. Runs in the pool, because a large style takes 100 ms. */
  checkStyle(owner: string, json: Uint8Array): Promise<Validated<Unsupported[]>>;
  checkSprites(owner: string, style: Uint8Array, sprites: Sprites): Promise<Unsupported[]>;
  /** Returns a style for interactive maps like {@link MapRenderer}. */
  webStyle(owner: string, style: Works['webStyle']['input'], signal?: AbortSignal): Promise<Done<StyleSpecification>>;
  /**
   * Returns a file of interactive maps, or null for a tile that the source does not have. Rejects with ApiError
   * `unavailable` when the source cannot be read.
   */
  webFile(owner: string, request: WebFileRequest, signal?: AbortSignal): Promise<Done<WebFile | null>>;
  /** Opens the source before the first map needs it. */
  warm(): void;
  /** Ends the processes. Waiting and running maps are rejected. */
  close(): Promise<void>;
}

const noSprites: Sprites = { files: [], missing: 0 };

/** Minimum cost of a map in pixels. */
const minPixels = 100_000;
const checkCostMs = 100;
/** Limits the properties of the source that are reported, each once. */
const maxReported = 100;
/** Time after which a client may ask for a tile again. */
const retryAfterS = 5;

const pixelsOf = ({ width, height, scale }: MapRequest): number => Math.max(minPixels, width * height * scale * scale);
const check = (owner: string): JobOptions => ({ owner, costMs: checkCostMs, pixels: minPixels });

/** Creates a pool of drawing processes, which the caller closes. They start with the first map. */
export function createDrawingPool(options: Omit<PoolOptions, 'purpose'>): DrawingPool {
  const pool = createPool({ ...options, purpose: 'maps' });
  const reported = new Set<string>();
  const reportOnce = (problem: string): void => {
    if (reported.has(problem) || reported.size >= maxReported) return;
    reported.add(problem);
    options.onProblem(problem);
  };
  const reportSource = ({ emptyView, cutLayers }: DrawnMap): void => {
    if (emptyView !== undefined) reportOnce(`a map in an uploaded style shows only its background: ${emptyView}`);
    for (const name of cutLayers) reportOnce(cutLayerProblem(name));
  };
  const reportTiles = createTileReports(options.onProblem);
  const reportFonts = createFontReports(options.onProblem);
  return {
    async draw(owner, request, icons, { style = null, sprites = noSprites, signal } = {}) {
      const order = { owner, costMs: mapCostMs(request, style !== null), pixels: pixelsOf(request), signal };
      const map = await pool.run({ kind: 'draw', request, icons, style, sprites }, order);
      reportTiles(map.result);
      reportFonts(map.result.missingFonts);
      reportSource(map.result);
      return map;
    },
    checkStyle: async (owner, style) => (await pool.run({ kind: 'checkStyle', style }, check(owner))).result,
    checkSprites: async (owner, style, sprites) =>
      (await pool.run({ kind: 'checkSprites', style, sprites }, check(owner))).result,
    webStyle: (owner, style, signal) =>
      pool.run({ kind: 'webStyle', ...style }, { owner, costMs: webStyleCostMs, pixels: minPixels, signal }),
    async webFile(owner, request, signal) {
      const order = { owner, costMs: webFileCostMs[request.file], pixels: minPixels, signal };
      const { result, processorMs } = await pool.run({ kind: 'webFile', request }, order);
      if (result.kind === 'unreadable') {
        reportTiles({ missingTiles: 1, tileProblem: result.reason });
        throw new ApiError('unavailable', 'the source of the tiles cannot be read; see the log', { retryAfterS });
      }
      return { result: result.kind === 'file' ? result : null, processorMs };
    },
    warm: () => pool.warm(),
    close: () => pool.close(),
  };
}

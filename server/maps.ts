/**
 * Draws the maps of a node. Icons and sprites are fetched in this process. Maps are drawn in separate processes, which
 * start with the first map.
 */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { FastifyBaseLogger } from 'fastify';
import { networksOf } from '../outbound/addresses.js';
import { createOutboundClient, type OutboundClient } from '../outbound/client.js';
import { IconFiles, iconBounds } from '../renderer/icons/icon-files.js';
import type { IconKind, RasterIcon } from '../renderer/icons/rasterize.js';
import type { FoundSource } from '../renderer/map.js';
import { createBasemap } from '../renderer/pool/basemap.js';
import { createDrawingPool, type DrawingPool } from '../renderer/pool/drawing-pool.js';
import { createIconPool, type IconPool } from '../renderer/pool/icon-pool.js';
import type { Done } from '../renderer/pool/pool.js';
import { iconUrls } from '../renderer/request/references.js';
import { SpriteFiles, spriteBounds } from '../renderer/sprites/sprite-files.js';
import type { Unsupported } from '../renderer/style/unsupported.js';
import type { DrawnMap, MapRequest, Uploads } from '../renderer/types.js';
import type { WebFile, WebFileRequest } from '../renderer/web/requests.js';
import { ApiError, parameterError, type Validated } from '../schemas/errors.js';
import type { Configuration } from './config/schema.js';
import { archiveHints, archiveLocation, mapsUserAgent, unattributed, unreadableArchive } from './map-data.js';
import { drawingProcesses, usableMemoryBytes } from './memory.js';

/**
 * Projects share the drawing processes equally: `project` is the one that a call counts for. A call that waits for a
 * process rejects with the reason of its signal when it aborts.
 */
export interface Maps {
  render(
    project: string,
    request: MapRequest,
    uploads: Uploads,
    signal?: AbortSignal,
  ): Promise<DrawnMap & { readonly processorMs: number }>;
  checkStyle(project: string, json: Uint8Array): Promise<Validated<Unsupported[]>>;
  checkIcon(project: string, file: Uint8Array): Promise<Validated<IconKind>>;
  webStyle(
    project: string,
    style: { readonly name: string; readonly language: string; readonly uploaded: Uploads['style'] },
    signal?: AbortSignal,
  ): Promise<Done<StyleSpecification>>;
  /** Null: the source has no tile there. */
  webFile(project: string, request: WebFileRequest, signal?: AbortSignal): Promise<Done<WebFile | null>>;
  /** Bakes the basemap in the background, unless it exists, or opens the archive, which is then reported. */
  prepare(): void;
  /** Aborts maps that are being drawn. */
  close(): Promise<void>;
}

/** Time limit for the start of a drawing process, on a slow machine. */
const startTimeoutMs = 120_000;

/** Share of the time limit that a tile may take. After that the map is drawn without it. */
const archiveShare = 0.5;
const maxArchiveTimeoutMs = 8_000;

const bakingProcess = new URL('../renderer/basemap/baking-process.js', import.meta.url);
const iconProcess = new URL('../renderer/pool/icon-process.js', import.meta.url);
/** A multiple of `maps.timeoutMs`: a map may wait, fail together with another one, and be drawn again alone. */
const answerShare = 3;
/** Less than two minutes, after which the HTTP server closes idle connections. */
const maxAnswerTimeoutMs = 110_000;

/** Returns the id of an uploaded icon, whose name is id and version, or the URL. */
const shownName = (name: string): string => (/^https?:/i.test(name) ? name : (name.split('@')[0] ?? name));

/** Creates a client for the icons and sprites that requests name, which the caller closes. */
export function createIconClient({ maps }: Configuration, bounds = iconBounds): OutboundClient {
  const allowedNetworks = networksOf(maps.allowedNetworks);
  return createOutboundClient({ ...bounds, allowedNetworks, userAgent: mapsUserAgent });
}

/** Where maps report what an operator should know. */
interface MapReports {
  /** Receives the reason when something of maps does not work. */
  readonly onProblem: (reason: string) => void;
  /** Receives what was found of the configured archive. */
  readonly onArchive: (found: FoundSource) => void;
}

/** Returns the reports of a process that logs them. */
export const loggedTo = (logger: Pick<FastifyBaseLogger, 'error' | 'info' | 'warn'>): MapReports => ({
  onProblem: (reason) => logger.error({ reason }, 'maps'),
  onArchive(found) {
    if (found.kind === 'vector' && found.schema === null)
      logger.warn(found, 'maps: the built-in styles know no schema with the layers of the archive');
    else logger.info(found, 'maps: the archive is open');
    if (found.attribution === '') logger.warn(`maps: ${unattributed('the archive')}: set maps.archiveAttribution`);
  },
});

/** Creates the processes that draw. The caller closes them. */
function openDrawingPool(configuration: Configuration, { onProblem, onArchive }: MapReports): DrawingPool {
  const { workers, timeoutMs, maxPixelsInFlight, archive } = configuration.maps;
  return createDrawingPool({
    module: new URL('../renderer/pool/drawing-process.js', import.meta.url),
    start: {
      archive: archiveLocation(archive),
      archiveHints: archiveHints(configuration),
      archiveTimeoutMs: Math.min(maxArchiveTimeoutMs, archiveShare * timeoutMs),
      cacheFolder: resolve(configuration.data),
      userAgent: mapsUserAgent,
    },
    maxProcesses: workers > 0 ? workers : drawingProcesses(availableParallelism(), usableMemoryBytes()),
    maxPixelsInFlight,
    timeoutMs,
    answerTimeoutMs: Math.min(answerShare * timeoutMs, maxAnswerTimeoutMs),
    startTimeoutMs,
    onProblem,
    ...(archive !== '' && {
      onFound: onArchive,
      onUnusable: (reason: string) => onProblem(`maps.archive: ${unreadableArchive(archive, reason)}`),
    }),
  });
}

/** Returns the icons as pixels, by their names. Throws for an invalid one, because the client can fix it. */
async function rasterize(
  pool: IconPool,
  project: string,
  files: ReadonlyMap<string, Uint8Array>,
  scale: number,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, RasterIcon>> {
  const icons = await Promise.all(
    [...files].map(async ([name, file]): Promise<[string, RasterIcon]> => {
      const icon = await pool.rasterize(project, file, scale, signal);
      if (!icon.ok)
        throw parameterError({ param: 'markers', rule: `the icon ${shownName(name)} ${icon.problem.rule}` });
      return [name, icon.value];
    }),
  );
  return new Map(icons);
}

/** Creates the maps of a node. They own the drawing processes, the baking and two clients. The caller closes them. */
export function createMaps(configuration: Configuration, reports: MapReports): Maps {
  const { onProblem } = reports;
  const hasArchive = configuration.maps.archive !== '';
  const client = createIconClient(configuration);
  const icons = new IconFiles(client);
  const spriteClient = createIconClient(configuration, spriteBounds);
  const sprites = new SpriteFiles(spriteClient);
  const basemap = createBasemap({
    module: bakingProcess,
    folder: join(resolve(configuration.data), 'basemap'),
    timeoutMs: configuration.maps.timeoutMs,
    onProblem,
  });
  /** Waits for the basemap if all maps are drawn from it. */
  const sourceReady = async (): Promise<void> => {
    if (!hasArchive) await basemap.ready();
  };
  const iconPool = createIconPool({ module: iconProcess, startTimeoutMs, onProblem });
  const pool = openDrawingPool(configuration, reports);

  return {
    async render(project, request, { icons: uploaded, style }, signal) {
      const [fetched, images] = await Promise.all([
        icons.get(project, iconUrls(request)),
        sprites.get(project, style, request.scale),
      ]);
      await sourceReady();
      signal?.throwIfAborted();
      const files = new Map([...uploaded, ...fetched]);
      const rasters = await rasterize(iconPool, project, files, request.scale, signal);
      const draw = () => pool.draw(project, request, rasters, { style, sprites: images, signal });
      const first = await draw();
      const { lacksBasemap } = first.result;
      if (!lacksBasemap) return { ...first.result, processorMs: first.processorMs };
      // Baking begins with the first map beside the archive.
      try {
        await basemap.ready();
      } catch (error) {
        if (lacksBasemap === 'all') throw error;
        // The part from the archive is better than no map, for as long as an incomplete map is cached.
        return { ...first.result, missingTiles: first.result.missingTiles + 1, processorMs: first.processorMs };
      }
      const { result, processorMs } = await draw();
      return { ...result, processorMs: first.processorMs + processorMs };
    },
    async checkStyle(project, json) {
      await sourceReady();
      const check = await pool.checkStyle(project, json);
      if (!check.ok) return check;
      const fetched = await sprites.get(project, json, 1);
      if (fetched.files.length + fetched.missing === 0) return check;
      return { ok: true, value: [...check.value, ...(await pool.checkSprites(project, json, fetched))] };
    },
    async checkIcon(project, file) {
      const icon = await iconPool.rasterize(project, file, 1);
      return icon.ok ? { ok: true, value: icon.value.kind } : icon;
    },
    async webStyle(project, { name, language, uploaded }, signal) {
      await sourceReady();
      return pool.webStyle(project, { name, language, style: uploaded }, signal);
    },
    async webFile(project, request, signal) {
      await sourceReady();
      if (request.file === 'tile' && request.tileset !== 'archive') await basemap.ready();
      if (request.file === 'tile' && request.tileset !== 'basemap' && !hasArchive)
        throw new ApiError('not_found', 'this installation has no archive of maps');
      return pool.webFile(project, request, signal);
    },
    prepare() {
      if (hasArchive) pool.warm();
      else basemap.prepare();
    },
    async close() {
      await basemap.close();
      await Promise.all([pool.close(), iconPool.close()]);
      await Promise.all([client.close(), spriteClient.close()]);
    },
  };
}

/** How a node draws maps: icons and sprites are fetched here, drawing is done in processes of its own, none before the first map. */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseNetworks } from '../../outbound/addresses.js';
import { createOutboundClient, type OutboundClient } from '../../outbound/client.js';
import { IconFiles, iconBounds } from '../../renderer/icons/icon-files.js';
import { createPool, type Pool } from '../../renderer/pool/pool.js';
import { iconUrls } from '../../renderer/request/references.js';
import type { ArchiveHints } from '../../renderer/sources/open.js';
import { SpriteFiles, spriteBounds } from '../../renderer/sprites/sprite-files.js';
import type { DrawnMap, MapRequest, Uploads } from '../../renderer/types.js';
import { parameterError } from '../../schemas/errors.js';
import type { Configuration } from '../config/schema.js';
import { version } from '../version.js';

export interface Maps extends Pick<Pool, 'checkStyle' | 'checkIcon'> {
  render(request: MapRequest, uploads: Uploads): Promise<DrawnMap>;
  /** Maps in hand are given up. */
  close(): Promise<void>;
}

export const mapsUserAgent = `Fenceline-Maps/${version}`;
/** Baking the default basemap on a slow machine. */
const startTimeoutMs = 120_000;

/** Of a map's time, for a tile that is late: what came of the others is drawn then. */
const archiveShare = 0.5;
const maxArchiveTimeoutMs = 8_000;

/** A path from the working folder, or a URL; null for the default basemap. */
export function archiveLocation(archive: string): string | null {
  if (archive === '') return null;
  return /^https?:\/\//i.test(archive) ? archive : resolve(archive);
}

export const archiveHints = ({ maps }: Configuration): ArchiveHints => ({
  attribution: maps.archiveAttribution,
  maxZoom: maps.archiveMaxZoom,
});

export function createIconClient({ maps }: Configuration, bounds = iconBounds): OutboundClient {
  const networks = parseNetworks('maps.allowedNetworks', maps.allowedNetworks);
  if (!networks.ok) throw parameterError(networks.problem);
  return createOutboundClient({ ...bounds, allowedNetworks: networks.value, userAgent: mapsUserAgent });
}

export function createMaps(configuration: Configuration, onProblem: (reason: string) => void): Maps {
  const { workers, timeoutMs, maxPixelsInFlight, archive } = configuration.maps;
  const client = createIconClient(configuration);
  const icons = new IconFiles(client);
  const spriteClient = createIconClient(configuration, spriteBounds);
  const sprites = new SpriteFiles(spriteClient);
  const pool = createPool({
    module: new URL('../../renderer/pool/drawing-process.js', import.meta.url),
    start: {
      archive: archiveLocation(archive),
      archiveHints: archiveHints(configuration),
      archiveTimeoutMs: Math.min(maxArchiveTimeoutMs, archiveShare * timeoutMs),
      cacheFolder: resolve(configuration.data),
      userAgent: mapsUserAgent,
    },
    maxProcesses: workers > 0 ? workers : Math.max(1, availableParallelism() - 1),
    maxPixelsInFlight,
    timeoutMs,
    startTimeoutMs,
    onProblem,
  });
  return {
    async render(request, { icons: uploaded, style }) {
      const [fetched, images] = await Promise.all([icons.get(iconUrls(request)), sprites.get(style, request.scale)]);
      return pool.draw(request, new Map([...uploaded, ...fetched]), style, images);
    },
    async checkStyle(json) {
      const check = await pool.checkStyle(json);
      if (!check.ok) return check;
      const fetched = await sprites.get(json, 1);
      if (fetched.files.length + fetched.missing === 0) return check;
      return { ok: true, value: [...check.value, ...(await pool.checkSprites(json, fetched))] };
    },
    checkIcon: pool.checkIcon,
    async close() {
      await pool.close();
      await Promise.all([client.close(), spriteClient.close()]);
    },
  };
}

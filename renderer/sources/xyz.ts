/** Reads tiles from a server, each by its URL. */
import type { Bounds, Position, TileSource } from '../types.js';
import { tileSizePx, worldPixel } from '../view/projection.js';
import { plainAttribution } from './attribution.js';
import { acceptedEncodings, decodeBody, decompressIfGzip } from './decompress.js';
import type { FetchBytes } from './fetch.js';
import { type Samples, type TileInfo, tileInfo, zoomRange } from './metadata.js';

/** Properties of a server's tiles, known before any tile is read. */
export interface TileServer {
  /** URL template with {z}, {x}, {y}, or {-y} for rows counted from the south. */
  readonly urlTemplate: string;
  readonly minZoom: number;
  readonly maxZoom: number;
  /** West, south, east, north of all tiles; null for no limit. */
  readonly bounds: Bounds | null;
  /** A position that has tiles; null when unknown. */
  readonly center: Position | null;
  /** May be HTML. */
  readonly attribution: string;
  /** Layer names as in TileJSON; undefined when unknown. */
  readonly vectorLayers: unknown;
}

type TileOf = TileSource['tile'];

/** Statuses that mean the tile does not exist. */
const noTile = [204, 404, 410];

/**
 * Opens the source. Reads a few tiles to detect vector tiles with their layers, or images with their size, unless the
 * server declares its layers. Rejects when they cannot be read.
 */
export async function openXyz(server: TileServer, fetchBytes: FetchBytes): Promise<TileSource> {
  checkTemplate(server.urlTemplate);
  const zooms = zoomRange(server.minZoom, server.maxZoom);
  const fetchTile: TileOf = async (zoom, x, y) => {
    if (!isWithin(server.bounds, zoom, x, y)) return undefined;
    const { status, headers, bytes } = await fetchBytes(tileUrl(server.urlTemplate, zoom, x, y), {
      'accept-encoding': acceptedEncodings,
    });
    if (noTile.includes(status) || (status === 200 && bytes.length === 0)) return undefined;
    if (status !== 200) throw new Error(`the tile server answers with status ${status}`);
    return decompressIfGzip(await decodeBody(bytes, headers['content-encoding']));
  };
  return {
    ...zooms,
    ...(await infoOf(server, () => samplesOf({ ...server, ...zooms }, fetchTile))),
    bounds: server.bounds,
    attribution: plainAttribution(server.attribution),
    tile: fetchTile,
    close: async () => {},
  };
}

async function infoOf({ urlTemplate, vectorLayers }: TileServer, samples: Samples): Promise<TileInfo> {
  const info = await tileInfo(vectorLayers, endsLikePicture(urlTemplate), samples);
  if (info.kind === 'vector' && info.layers === null)
    throw new TypeError('the tile server has no tile at the positions that are sampled for layers; use its TileJSON');
  return info;
}

/** Returns tiles in the middle, at the deepest, the first and a middle zoom; without a middle, the top tile. */
async function samplesOf(
  { minZoom, maxZoom, bounds, center }: TileServer,
  tileOf: TileOf,
): Promise<readonly Uint8Array[]> {
  const middle = center ?? (bounds && middleOf(bounds));
  const zooms = middle ? [maxZoom, minZoom, Math.floor((minZoom + maxZoom) / 2)] : [minZoom];
  const found: Uint8Array[] = [];
  for (const zoom of new Set(zooms)) {
    const bytes = await tileOf(zoom, ...tileAt(middle ?? [0, 0], zoom));
    if (bytes) found.push(bytes);
  }
  return found;
}

/** Returns the tile at a position. The eastern and southern edges of the world belong to its last tiles. */
function tileAt(position: Position, zoom: number): [x: number, y: number] {
  const [x, y] = worldPixel(position, zoom);
  const indexOf = (pixel: number) => Math.min(2 ** zoom - 1, Math.max(0, Math.floor(pixel / tileSizePx)));
  return [indexOf(x), indexOf(y)];
}

const middleOf = ([west, south, east, north]: NonNullable<TileServer['bounds']>): Position => [
  (west + east) / 2,
  (south + north) / 2,
];

function isWithin(bounds: TileServer['bounds'], zoom: number, x: number, y: number): boolean {
  if (!bounds) return true;
  const [west, south, east, north] = bounds;
  const [left, top] = worldPixel([west, north], zoom);
  const [right, bottom] = worldPixel([east, south], zoom);
  const isBeside = (tile: number, low: number, high: number) =>
    (tile + 1) * tileSizePx <= low || tile * tileSizePx >= high;
  return !isBeside(x, left, right) && !isBeside(y, top, bottom);
}

const endsLikePicture = (template: string): boolean => /\.(png|jpe?g|webp)(\?.*)?$/i.test(template);

const known = /\{(z|x|y|-y)\}/g;

function checkTemplate(template: string): void {
  for (const [token] of template.matchAll(/\{[^}]*\}?/g)) {
    if (!token.match(known)) throw new TypeError(`a URL of tiles has ${token}; only {z}, {x}, {y} and {-y} are known`);
  }
  if (!/\{z\}/.test(template) || !/\{x\}/.test(template) || !/\{-?y\}/.test(template)) {
    throw new TypeError('a URL of tiles must have {z}, {x} and {y}');
  }
}

function tileUrl(template: string, zoom: number, x: number, y: number): string {
  const values: Readonly<Record<string, number>> = { z: zoom, x, y, '-y': 2 ** zoom - 1 - y };
  return template.replace(known, (_whole, name: string) => String(values[name]));
}

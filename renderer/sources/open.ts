/** Opens the source of maps by its location: a file, an archive by URL, TileJSON, or a URL template of tiles. */
import type { TileSource } from '../types.js';
import { plainAttribution } from './attribution.js';
import { decodeBody } from './decompress.js';
import type { FetchBytes } from './fetch.js';
import { openPmtiles } from './pmtiles.js';
import { readTileJson } from './tile-json.js';
import { openXyz } from './xyz.js';

/** Defaults for properties that the source does not declare. */
export interface ArchiveHints {
  /** May be HTML. */
  readonly attribution: string;
  /** Zooms of tiles by URL. */
  readonly maxZoom: number;
}

const noHints: ArchiveHints = { attribution: '', maxZoom: 14 };

/** Maximum size of TileJSON. */
const maxDescriptionBytes = 2 ** 20;

/** Opens a source. Rejects when it cannot be read or has an unknown format. */
export async function openArchive(location: string, fetchBytes?: FetchBytes, hints = noHints): Promise<TileSource> {
  const source = await open(location, fetchBytes, hints.maxZoom);
  return source.attribution === '' ? { ...source, attribution: plainAttribution(hints.attribution) } : source;
}

async function open(location: string, fetchBytes: FetchBytes | undefined, maxZoom: number): Promise<TileSource> {
  if (!/^https?:\/\//i.test(location)) {
    if (!/\.mbtiles$/i.test(location)) return openPmtiles(location);
    // Loaded only now: compiling SQLite takes longer than the rest of a start.
    const { openMbtiles } = await import('./mbtiles.js');
    return openMbtiles(location);
  }
  if (!fetchBytes) throw new TypeError('An archive by URL needs a way to fetch it');
  if (/\{.*\}/.test(location)) {
    const unsaid = { bounds: null, center: null, attribution: '', vectorLayers: undefined };
    return openXyz({ ...unsaid, urlTemplate: location, minZoom: 0, maxZoom }, fetchBytes);
  }
  if (/\.pmtiles$/i.test(new URL(location).pathname)) return openPmtiles(location, fetchBytes);
  return openDescribed(location, fetchBytes, maxZoom);
}

/** Requests a range, because an archive may have any size. TileJSON is short. */
async function openDescribed(url: string, fetchBytes: FetchBytes, maxZoom: number): Promise<TileSource> {
  const { status, headers, bytes } = await fetchBytes(url, { range: `bytes=0-${maxDescriptionBytes - 1}` });
  if (status !== 200 && status !== 206) throw new Error(`the server of the archive answers with status ${status}`);
  const body = await decodeBody(bytes, headers['content-encoding']);
  if (Buffer.from(body.subarray(0, 7)).toString('latin1') === 'PMTiles') return openPmtiles(url, fetchBytes);
  return openXyz(readTileJson(body, url, maxZoom), fetchBytes);
}

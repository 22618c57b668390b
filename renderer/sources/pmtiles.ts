/**
 * Reads PMTiles 3: one file of tiles, from disk or from any server that supports range requests. Tiles and directories
 * may be compressed with gzip or brotli.
 */
import { open } from 'node:fs/promises';
import {
  Compression,
  type Entry,
  EtagMismatch,
  PMTiles,
  type RangeResponse,
  ResolvedValueCache,
  type Source,
  TileType,
  tileIdToZxy,
} from 'pmtiles';
import { limitText } from '../../schemas/wording.js';
import type { TileSource } from '../types.js';
import { plainAttribution } from './attribution.js';
import { decompressBrotli, decompressGzip, maxOutputBytes } from './decompress.js';
import type { FetchBytes } from './fetch.js';
import { boundsOf, maxSamples, spread, tileInfo, zoomRange } from './metadata.js';

const rasterTypes: readonly TileType[] = [TileType.Png, TileType.Jpeg, TileType.Webp];

/** Maximum cached directories of an archive. Each leads to thousands of tiles. */
const keptDirectories = 100;

/**
 * Maximum decompressed size of a directory: a million entries, which take 60 MB. Archives of the whole world have
 * directories of some 10,000 entries.
 */
const maxDirectoryBytes = 4 * 2 ** 20;
/** Maximum depth of directories below the first one, as in the specification. */
const maxDepth = 3;

/**
 * Opens an archive: a file by its path, or by `https:` or `http:` URL through `fetchBytes`. Rejects when it cannot be
 * read or is not an archive.
 */
export async function openPmtiles(location: string, fetchBytes?: FetchBytes): Promise<TileSource> {
  if (!/^https?:/.test(location)) return openArchive(fileRanges(location));
  if (!fetchBytes) throw new TypeError('An archive by URL needs a way to fetch it');
  return openArchive(urlRanges(location, fetchBytes));
}

async function openArchive(ranges: Source): Promise<TileSource> {
  const directories = new ResolvedValueCache(keptDirectories, true, (data, compression) =>
    decompress(data, compression, maxDirectoryBytes),
  );
  const archive = new PMTiles(ranges, directories, (data, compression) => decompress(data, compression));
  const header = await archive.getHeader().catch((error: unknown) => {
    // The library reads beyond the end.
    throw error instanceof RangeError
      ? new TypeError('the file is shorter than the header of a PMTiles archive')
      : error;
  });
  const metadata = ((await archive.getMetadata()) ?? {}) as Record<string, unknown>;
  const isRaster = rasterTypes.includes(header.tileType);
  if (!isRaster && header.tileType !== TileType.Mvt && header.tileType !== TileType.Unknown)
    throw new TypeError(`Tiles of type ${header.tileType} can't be drawn`);

  const tile = async (zoom: number, x: number, y: number) => {
    const found = await archive.getZxy(zoom, x, y);
    return found && found.data.byteLength > 0 ? new Uint8Array(found.data) : undefined;
  };
  /** Returns existing tiles from the whole directory: the first, which is of the lowest zoom, others, and the last. */
  const samples = async () => {
    const directoryAt = (offset: number, length: number) => directories.getDirectory(ranges, offset, length, header);
    const entriesOf = async (entries: readonly Entry[], count: number, depth: number): Promise<Entry[]> => {
      const picked = spread(entries, count);
      const below = await Promise.all(
        picked.map(async (entry) => {
          // A run of no tiles leads to a directory of its own.
          if (entry.runLength > 0) return [entry];
          if (depth === maxDepth) throw new TypeError(`directories of the archive are more than ${maxDepth} deep`);
          const leaf = await directoryAt(header.leafDirectoryOffset + entry.offset, entry.length);
          return entriesOf(leaf, Math.max(1, Math.floor(count / picked.length)), depth + 1);
        }),
      );
      return below.flat();
    };
    const entries = await entriesOf(
      await directoryAt(header.rootDirectoryOffset, header.rootDirectoryLength),
      maxSamples,
      0,
    );
    const tiles = await Promise.all(entries.map(({ tileId }) => tile(...tileIdToZxy(tileId))));
    return tiles.filter((bytes) => bytes !== undefined);
  };
  return {
    ...(await tileInfo(metadata.vector_layers, isRaster, samples)),
    ...zoomRange(header.minZoom, header.maxZoom),
    bounds: boundsOf([header.minLon, header.minLat, header.maxLon, header.maxLat]),
    attribution: plainAttribution(metadata.attribution),
    tile,
    close: async () => {},
  };
}

/** Opens the file for each part: a name may become that of another file. */
async function readPart(path: string, offset: number, length: number) {
  const file = await open(path);
  try {
    const data = new ArrayBuffer(length);
    const { bytesRead } = await file.read(new Uint8Array(data), 0, length, offset);
    const { ino, mtimeMs, size } = await file.stat();
    return { data, bytesRead, version: `${ino} ${size} ${mtimeMs}` };
  } finally {
    await file.close();
  }
}

function fileRanges(path: string): Source {
  return {
    getKey: () => path,
    async getBytes(offset, length, _signal, knownVersion): Promise<RangeResponse> {
      if (length > maxOutputBytes) throw new TypeError(`a part of the archive has ${length} bytes, which is too much`);
      const { data, bytesRead, version } = await readPart(path, offset, length);
      checkVersion(knownVersion, version);
      checkLength(offset, length, bytesRead);
      return { data: bytesRead === length ? data : data.slice(0, bytesRead), etag: version };
    },
  };
}

function urlRanges(url: string, fetchBytes: FetchBytes): Source {
  return {
    getKey: () => url,
    async getBytes(offset, length, _signal, knownVersion): Promise<RangeResponse> {
      const { status, headers, bytes } = await fetchBytes(url, { range: `bytes=${offset}-${offset + length - 1}` });
      // The range is beyond the end.
      if (status === 416) checkLength(offset, length, 0);
      if (status !== 206) throw new Error(`The server answers a range request with status ${status}`);
      const version = versionIn(headers);
      checkVersion(knownVersion, version);
      checkLength(offset, length, bytes.length);
      return { data: copyOf(bytes), ...(version !== undefined && { etag: version }) };
    },
  };
}

/** Returns the strong ETag of an archive, or else the size of its file. */
function versionIn(headers: Readonly<Record<string, string>>): string | undefined {
  const { etag = '', 'content-range': range = '' } = headers;
  return etag.startsWith('"') ? etag : /\/(\d+)$/.exec(range)?.[1];
}

/**
 * Throws if the archive was replaced: its header and directories are then read again. An ETag and a size, as two
 * servers of one archive may answer, tell nothing.
 */
function checkVersion(known: string | undefined, version: string | undefined): void {
  if (known === undefined || version === undefined || known.startsWith('"') !== version.startsWith('"')) return;
  if (known !== version) throw new EtagMismatch('the archive was replaced');
}

/**
 * Throws for a part that is not whole, as if the archive was replaced. The first part may be: its length is not known
 * before it is read.
 */
function checkLength(offset: number, length: number, readBytes: number): void {
  if (offset > 0 && readBytes !== length)
    throw new EtagMismatch(`the archive has ${readBytes} of ${length} bytes at ${offset}: it was cut off or replaced`);
}

async function decompress(
  data: ArrayBuffer,
  compression: Compression,
  maxBytes = maxOutputBytes,
): Promise<ArrayBuffer> {
  if (compression === Compression.Gzip) return copyOf(await decompressGzip(new Uint8Array(data), maxBytes));
  if (compression === Compression.Brotli) return copyOf(await decompressBrotli(new Uint8Array(data), maxBytes));
  if (compression === Compression.Zstd) throw new TypeError('Archives compressed by zstd are not read');
  if (data.byteLength > maxBytes) throw new TypeError(`a part of the archive has more than ${limitText(maxBytes)}`);
  return data;
}

/** Copies the bytes, which may be part of a larger buffer. */
function copyOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

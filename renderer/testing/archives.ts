/** Writes archives: PMTiles with only a root directory, MBTiles, and a server of files and ranges. For tests. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import sqlite from 'node-sqlite3-wasm';
import { PbfWriter } from 'pbf';
import { Compression, TileType, zxyToTileId } from 'pmtiles';
import type { FetchBytes } from '../sources/fetch.js';

interface ArchiveTile {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
  readonly bytes: Uint8Array;
}

const compressors: Partial<Record<Compression, (bytes: Uint8Array) => Uint8Array>> = {
  [Compression.None]: (bytes) => bytes,
  [Compression.Gzip]: (bytes) => gzipSync(bytes),
  [Compression.Brotli]: (bytes) => brotliCompressSync(bytes),
};

const headerBytes = 127;

/** Returns a PMTiles archive (https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md). */
export function pmtilesBytes(
  tiles: readonly ArchiveTile[],
  metadata: object,
  compression: Compression,
  tileType = TileType.Mvt,
): Uint8Array {
  const compress = compressors[compression]!;
  const contents = tiles
    .map(({ zoom, x, y, bytes }) => ({ id: zxyToTileId(zoom, x, y), bytes: compress(bytes) }))
    .sort((a, b) => a.id - b.id);
  const root = compress(directoryBytes(contents));
  const json = compress(new TextEncoder().encode(JSON.stringify(metadata)));
  const data = Buffer.concat(contents.map(({ bytes }) => bytes));
  const zooms = tiles.map(({ zoom }) => zoom);

  const header = Buffer.alloc(headerBytes);
  header.write('PMTiles\x03', 'latin1');
  const offsets = [
    headerBytes,
    root.length,
    headerBytes + root.length,
    json.length,
    0,
    0,
    headerBytes + root.length + json.length,
  ];
  for (const [i, offset] of [...offsets, data.length].entries()) header.writeBigUInt64LE(BigInt(offset), 8 + 8 * i);
  header.set([0, compression, compression, tileType, Math.min(...zooms), Math.max(...zooms)], 96);
  return Buffer.concat([header, root, json, data]);
}

function directoryBytes(contents: readonly { readonly id: number; readonly bytes: Uint8Array }[]): Uint8Array {
  const writer = new PbfWriter();
  writer.writeVarint(contents.length);
  for (const [i, { id }] of contents.entries()) writer.writeVarint(id - (contents[i - 1]?.id ?? 0));
  for (const _ of contents) writer.writeVarint(1);
  for (const { bytes } of contents) writer.writeVarint(bytes.length);
  // Zero means contiguous. The first offset is stored plus one.
  for (const i of contents.keys()) writer.writeVarint(i === 0 ? 1 : 0);
  return writer.finish();
}

/** Writes an MBTiles file. */
export function writeMbtiles(
  path: string,
  tiles: readonly ArchiveTile[],
  metadata: Readonly<Record<string, string>>,
): void {
  const database = new sqlite.Database(path);
  database.exec('CREATE TABLE metadata (name text, value text)');
  database.exec('CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob)');
  for (const [name, value] of Object.entries(metadata))
    database.run('INSERT INTO metadata VALUES (?, ?)', [name, value]);
  for (const { zoom, x, y, bytes } of tiles) {
    database.run('INSERT INTO tiles VALUES (?, ?, ?, ?)', [zoom, x, 2 ** zoom - 1 - y, bytes]);
  }
  database.close();
}

interface FileServer {
  readonly url: string;
  /** Requests so far. */
  requests(): number;
  close(): Promise<void>;
}

/** Serves files by path, whole or by range; what isn't there is 404. `broken` paths answer 500. */
export async function serveFiles(
  files: Readonly<Record<string, Uint8Array>>,
  broken: readonly string[] = [],
): Promise<FileServer> {
  let requests = 0;
  const server: Server = createServer((request, response) => {
    requests++;
    const path = request.url!.slice(1);
    const file = files[path];
    if (broken.includes(path)) return response.writeHead(500).end();
    if (!file) return response.writeHead(404).end();
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (!range) return response.writeHead(200).end(file);
    return response
      .writeHead(206, { etag: `"${file.length}"` })
      .end(file.subarray(Number(range[1]), Number(range[2]) + 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Fetches from anywhere, as the product never does. */
export const fetchAnything: FetchBytes = async (url, headers) => {
  const response = await fetch(url, { headers: { ...headers, connection: 'close' } });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: Object.fromEntries(response.headers), bytes };
};

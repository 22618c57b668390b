/** The files that interactive maps load: tiles, glyphs and sprites, compressed where that makes them smaller. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { glyphRange } from '../glyphs/glyphs.js';
import { isPicture } from '../sources/metadata.js';
import { drawSheet } from '../sprites/drawn-images.js';
import { indexFile, pictureFile } from '../sprites/sheet-file.js';
import { builtInDrawings } from '../styles/images.js';
import type { TileSource } from '../types.js';
import { coveredTile, namesBeyond } from './beside.js';
import type { Tileset, WebFile, WebFileRequest, WebFileResult } from './requests.js';
import { isPartOfWorld } from './style.js';

type TileRequest = Extract<WebFileRequest, { readonly file: 'tile' }>;

const compress = promisify<Uint8Array, Buffer>(gzip);

/** Returns a file. `open` returns the source of a tileset. */
export async function webFile(
  request: WebFileRequest,
  open: (tileset: Tileset) => Promise<TileSource>,
): Promise<WebFileResult> {
  if (request.file === 'glyphs') return gzipped(glyphRange(request.face, request.start), 'application/x-protobuf');
  if (request.file === 'sprite') return sprite(request);
  if (request.tileset === 'beyond') return beyond(request, await open('archive'), await open('basemap'));
  const source = await open(request.tileset);
  try {
    const bytes = await source.tile(request.zoom, request.x, request.y);
    if (bytes === undefined) return { kind: 'none' };
    if (source.kind === 'vector') return await gzipped(complete(bytes, request, source), vectorTileType);
    return { kind: 'file', bytes, contentType: pictureType(bytes), isGzip: false };
  } catch (error) {
    return unreadable(error);
  }
}

const unreadable = (error: unknown): WebFileResult => ({
  kind: 'unreadable',
  reason: error instanceof Error ? error.message : String(error),
});

async function beyond(request: TileRequest, archive: TileSource, basemap: TileSource): Promise<WebFileResult> {
  try {
    const names = await namesBeyond(request, archive, basemap);
    return names ? await gzipped(names, vectorTileType) : { kind: 'none' };
  } catch (error) {
    return unreadable(error);
  }
}

const vectorTileType = 'application/vnd.mapbox-vector-tile';

/** Ends a tile of a part of the world where its archive ends, above the basemap. */
function complete(bytes: Uint8Array, request: TileRequest, source: TileSource): Uint8Array {
  if (request.tileset === 'basemap' || !isPartOfWorld(source.bounds)) return bytes;
  return coveredTile(bytes, request, source);
}

async function sprite({ style, format, pixelRatio }: WebFileRequest & { readonly file: 'sprite' }): Promise<WebFile> {
  const sheet = drawSheet(builtInDrawings(style), pixelRatio);
  if (format === 'json') return gzipped(indexFile(sheet), 'application/json');
  return { kind: 'file', bytes: await pictureFile(sheet), contentType: 'image/png', isGzip: false };
}

async function gzipped(bytes: Uint8Array, contentType: string): Promise<WebFile> {
  return { kind: 'file', bytes: await compress(bytes), contentType, isGzip: true };
}

function pictureType(bytes: Uint8Array): string {
  if (!isPicture(bytes)) throw new TypeError('the tile is not a PNG, JPEG or WebP');
  if (bytes[0] === 0x89) return 'image/png';
  return bytes[0] === 0xff ? 'image/jpeg' : 'image/webp';
}

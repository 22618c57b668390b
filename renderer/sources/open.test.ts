/** Tiles of a real server on this machine, through the client that the product uses. */
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { Compression } from 'pmtiles';
import sharp from 'sharp';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pmtilesBytes } from '../testing/archives.js';
import { rectangle, tileBytes } from '../testing/tiles.js';
import { TileStore } from '../tiles/store.js';
import type { TileSource } from '../types.js';
import { type ArchiveFetcher, createArchiveFetcher } from './guarded.js';
import { openArchive } from './open.js';
import { detectSchema } from './schema.js';

/** Enough for a machine that is busy with other tests. */
const timeoutMs = 1_000;
const tile = tileBytes({ water: [{ type: 'polygon', parts: [rectangle(0, 0, 100, 100)] }], transportation: [] });
const roads = tileBytes({ transportation: [{ type: 'line', parts: [rectangle(0, 0, 9, 9)] }] });
const picture = (side: number) =>
  sharp({ create: { width: side, height: side, channels: 3, background: 'red' } })
    .webp()
    .toBuffer();

type Reply = Uint8Array | number | RequestListener;
let replies: Record<string, Reply>;
let asked: IncomingMessage[];
const server = createServer((request, response) => {
  asked.push(request);
  const reply = replies[request.url!] ?? 404;
  if (typeof reply === 'function') reply(request, response);
  else if (typeof reply === 'number') response.writeHead(reply).end();
  else response.end(reply);
});
let fetcher: ArchiveFetcher;
let url: string;

beforeEach(async () => {
  [replies, asked] = [{}, []];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  fetcher = createArchiveFetcher('test', timeoutMs);
});
afterEach(async () => {
  await fetcher.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const open = (path: string, hints?: { attribution: string; maxZoom: number }) =>
  openArchive(`${url}${path}`, fetcher.fetchBytes, hints);
const json = (document: object): Uint8Array => Buffer.from(JSON.stringify(document));
const bytesOf = async (source: TileSource, zoom: number, x: number, y: number) => {
  const bytes = await source.tile(zoom, x, y);
  return bytes && Buffer.from(bytes);
};
const kindOf = async (source: TileSource, zoom: number, x: number, y: number) =>
  (await new TileStore(1e6).get(source, zoom, x, y)).kind;

test('a template: the first tile shows the kind, the hints give the rest', async () => {
  replies['/0/0/0.pbf?key=a%20b'] = roads;
  const source = await open('/{z}/{x}/{y}.pbf?key=a%20b', { attribution: '&copy; <b>Us</b>', maxZoom: 12 });
  const expected = {
    kind: 'vector',
    minZoom: 0,
    maxZoom: 12,
    tileSizePx: 512,
    attribution: '© Us',
    layers: ['transportation'],
  };
  expect(source).toMatchObject(expected);
  expect(detectSchema(source)).toBe('openmaptiles');
});

test('rows can be counted from the south', async () => {
  replies = { '/0/0/0': roads, '/3/5/6': tile };
  expect(await bytesOf(await open('/{z}/{x}/{-y}'), 3, 5, 1)).toEqual(Buffer.from(tile));
});

test.each([256, 512])('a template of pictures %i pixels wide, whatever its ending', async (side) => {
  replies['/0/0/0'] = await picture(side);
  const source = await open('/{z}/{x}/{y}');
  expect(source).toMatchObject({ kind: 'raster', tileSizePx: side, layers: null });
  expect(await kindOf(source, 0, 0, 0)).toBe('raster');
});

test('raster tiles of a part of the world, detected by the ending of their URL', async () => {
  replies['/9/3/4.jpg?v=1'] = await picture(256);
  const source = await open('/{z}/{x}/{y}.jpg?v=1');
  expect(source).toMatchObject({ kind: 'raster', tileSizePx: 256 });
  expect(await kindOf(source, 9, 3, 4)).toBe('raster');
});

test('TileJSON describes the tiles, and nothing is requested outside its bounds', async () => {
  const document = {
    tilejson: '3.0.0',
    tiles: [`${url}/t/{z}/{x}/{y}.mvt`],
    minzoom: 2,
    maxzoom: 9,
    bounds: [10, 40, 12, 44],
    attribution: 'A &amp; B',
    vector_layers: [{ id: 'streets' }, { id: 'ocean' }],
  };
  replies = { '/florence.json?key=1': json(document), '/t/9/272/186.mvt': tile };
  const source = await open('/florence.json?key=1', { attribution: 'not shown', maxZoom: 3 });
  expect(source).toMatchObject({
    kind: 'vector',
    minZoom: 2,
    maxZoom: 9,
    attribution: 'A & B',
    layers: ['streets', 'ocean'],
  });
  expect(detectSchema(source)).toBe('shortbread');
  expect(await bytesOf(source, 9, 272, 186)).toEqual(Buffer.from(tile));
  const before = asked.length;
  expect(await source.tile(9, 300, 186)).toBeUndefined();
  expect(await source.tile(9, 272, 100)).toBeUndefined();
  expect(asked.length).toBe(before);
  expect(await source.tile(9, 271, 186)).toBeUndefined();
  expect(asked.length).toBe(before + 1);
});

test('TileJSON without layers: a tile in the middle of the bounds is inspected, with rows from the south', async () => {
  const document = { tiles: ['tiles/{z}/{x}/{y}'], scheme: 'tms', minzoom: 1, maxzoom: 2, bounds: [100, 10, 170, 60] };
  replies = { '/maps/t.json': json(document), '/maps/tiles/2/3/2': tile, '/maps/tiles/1/1/1': roads };
  expect(await open('/maps/t.json')).toMatchObject({
    kind: 'vector',
    layers: ['water', 'transportation'],
    attribution: '',
  });
  delete replies['/maps/tiles/2/3/2'];
  expect(await open('/maps/t.json')).toMatchObject({ kind: 'vector', layers: ['transportation'] });
});

// A centre on the edge of the world was ignored, or led to a tile beyond it.
test.each([
  ['the antimeridian', [180, -17, 5], '/3/7/4'],
  ['the antimeridian from the east', [-180, -17, 5], '/3/0/4'],
  ['the south pole', [0, -90, 5], '/3/4/7'],
  ['the north pole', [0, 90], '/3/4/0'],
] as const)('a centre at %s shows a tile', async (_name, center, path) => {
  replies = { '/t': json({ tiles: [`${url}/{z}/{x}/{y}`], minzoom: 3, maxzoom: 3, center }), [path]: roads };
  expect((await open('/t')).layers).toEqual(['transportation']);
});

test('invalid fields of TileJSON are ignored', async () => {
  const document = {
    tiles: [`${url}/{z}/{x}/{y}`],
    minzoom: -1,
    maxzoom: 'x',
    bounds: [3, 2, 1],
    center: [999, 0],
    attribution: 7,
  };
  replies = { '/t': json({ ...document, vector_layers: 'none' }), '/0/0/0': roads };
  expect(await open('/t', { attribution: '', maxZoom: 11 })).toMatchObject({
    minZoom: 0,
    maxZoom: 11,
    layers: ['transportation'],
  });
});

test('an archive is detected by its contents when its URL has another ending', async () => {
  const archive = pmtilesBytes(
    [{ zoom: 0, x: 0, y: 0, bytes: tile }],
    { vector_layers: [{ id: 'earth' }] },
    Compression.Gzip,
  );
  replies['/archive'] = (request, response) => {
    const [first, last] = request.headers.range!.slice('bytes='.length).split('-').map(Number);
    response.writeHead(206).end(archive.subarray(first, last! + 1));
  };
  const source = await open('/archive');
  expect(source.layers).toEqual(['earth']);
  expect(await bytesOf(source, 0, 0, 0)).toEqual(Buffer.from(tile));
});

test.each([
  ['gzip', gzipSync(tile), 'gzip'],
  ['brotli', brotliCompressSync(tile), 'br'],
  ['gzip of a file that is gzip', gzipSync(gzipSync(tile)), 'GZIP, identity'],
  ['gzip that nobody mentions', gzipSync(tile), undefined],
])('tiles in %s', async (_name, bytes, encoding) => {
  replies['/0/0/0'] = (_request, response) =>
    response.writeHead(200, encoding === undefined ? {} : { 'content-encoding': encoding }).end(bytes);
  const source = await open('/{z}/{x}/{y}');
  expect(await bytesOf(source, 0, 0, 0)).toEqual(Buffer.from(tile));
  expect(asked[0]!.headers['accept-encoding']).toBe('gzip, br');
});

const large: RequestListener = (_request, response) => response.end(Buffer.alloc(16 * 2 ** 20 + 1));
const bombBytes = gzipSync(Buffer.alloc(64 * 2 ** 20 + 1));
const bomb: RequestListener = (_request, response) =>
  response.writeHead(200, { 'content-encoding': 'gzip' }).end(bombBytes);
const slow: RequestListener = (_request, response) => response.writeHead(200).write('\x1a');
const compressedOddly: RequestListener = (_request, response) =>
  response.writeHead(200, { 'content-encoding': 'zstd' }).end('x');
const elsewhere: RequestListener = (_request, response) => response.writeHead(302, { location: '/0/0/0' }).end();

test('an absent tile is not a failure', async () => {
  replies = { '/0/0/0': roads, '/3/0/1': 204, '/3/0/2': 410, '/3/0/3': new Uint8Array() };
  const source = await open('/{z}/{x}/{y}');
  for (const y of [0, 1, 2, 3]) expect(await kindOf(source, 3, 0, y)).toBe('empty');
});

test.each<readonly [string, Reply, string]>([
  ['an error', 500, 'status 500'],
  ['a refusal', 403, 'status 403'],
  ['a page', Buffer.from('<html>Not found</html>'), 'Unimplemented'],
  ['half a file', gzipSync(tile).subarray(0, 20), 'unexpected end of file'],
  ['more than the bound', large, 'more than 16 MiB'],
  ['a bomb', bomb, 'more than 64 MiB when it is decompressed'],
  ['an encoding that was not asked for', compressedOddly, 'encoding zstd'],
  ['a redirect', elsewhere, 'status 302'],
])('%s instead of a tile is a failure, and neighbouring tiles are read', async (_name, reply, reason) => {
  replies = { '/0/0/0': roads, '/4/0/0': reply };
  const source = await open('/{z}/{x}/{y}');
  const failed = await new TileStore(1e6).get(source, 4, 0, 0);
  expect(`${failed.kind} ${'error' in failed && failed.error}`).toMatch(new RegExp(`^failed .*${reason}`));
  expect(await kindOf(source, 0, 0, 0)).toBe('vector');
});

test('a late tile does not delay a map beyond the time limit', async () => {
  replies = { '/0/0/0': roads, '/1/0/0': slow, '/1/0/1': () => {} };
  const source = await open('/{z}/{x}/{y}');
  // Neither reply ends by itself.
  await expect(source.tile(1, 0, 0)).rejects.toThrow('too long');
  await expect(source.tile(1, 0, 1)).rejects.toThrow('timed_out');
});

test.each([
  ['without {y}', '/{z}/{x}', {}, 'must have {z}, {x} and {y}'],
  ['with a part that nobody knows', '/{s}/{z}/{x}/{y}', {}, 'has {s}'],
  ['of a server that is down', '/{z}/{x}/{y}.png', { '/0/0/0.png': 503 }, 'status 503'],
  [
    'of a server that answers something else',
    '/{z}/{x}/{y}',
    { '/0/0/0': Buffer.from('<html>') },
    'neither vector tiles nor PNG, JPEG or WebP',
  ],
  ['of a part of the world whose layers nobody says', '/{z}/{x}/{y}.pbf', {}, 'TileJSON'],
  ['that is not there', '/tiles.json', {}, 'status 404'],
  ['that is no TileJSON', '/tiles.json', { '/tiles.json': Buffer.from('{') }, 'neither a PMTiles archive nor TileJSON'],
  ['whose TileJSON has no tiles', '/t', { '/t': json({ tiles: [] }) }, 'neither a PMTiles archive nor TileJSON'],
  ['whose TileJSON is an archive of another kind', '/t', { '/t': json([1]) }, 'neither a PMTiles archive nor TileJSON'],
] as const)('a URL %s is refused, and why', async (_name, path, files, reason) => {
  replies = { ...files };
  await expect(open(path)).rejects.toThrow(reason);
});

import { copyFile, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sqlite from 'node-sqlite3-wasm';
import { Compression, TileType } from 'pmtiles';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { pmtilesArchive } from '../basemap/pmtiles-archive.js';
import { fetchAnything, pmtilesBytes, serveFiles, writeMbtiles } from '../testing/archives.js';
import { rectangle, tileBytes } from '../testing/tiles.js';
import type { TileSource } from '../types.js';
import { openMbtiles } from './mbtiles.js';
import { openPmtiles } from './pmtiles.js';
import { detectSchema } from './schema.js';

const tiles = [
  { zoom: 0, x: 0, y: 0 },
  { zoom: 3, x: 5, y: 1 },
  { zoom: 3, x: 5, y: 6 },
].map((place) => {
  const ring = rectangle(place.x, place.y, 100, 100);
  return { ...place, bytes: tileBytes({ earth: [{ type: 'polygon', parts: [ring] }] }) };
});
const metadata = { attribution: '<a href="x">&copy; Somebody</a>', vector_layers: [{ id: 'earth' }, { id: 'roads' }] };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fenceline-sources-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function expectTiles(source: TileSource): Promise<void> {
  for (const { zoom, x, y, bytes } of tiles)
    expect(Buffer.from((await source.tile(zoom, x, y))!)).toEqual(Buffer.from(bytes));
  expect(await source.tile(3, 1, 1)).toBeUndefined();
  await source.close();
}

const described = {
  kind: 'vector',
  minZoom: 0,
  maxZoom: 3,
  tileSizePx: 512,
  attribution: '© Somebody',
  layers: ['earth', 'roads'],
};

test.each([
  ['uncompressed', Compression.None],
  ['gzip', Compression.Gzip],
  ['brotli', Compression.Brotli],
])('PMTiles, %s, from a file', async (_name, compression) => {
  const path = join(folder, 'archive.pmtiles');
  await writeFile(path, pmtilesBytes(tiles, metadata, compression));
  const source = await openPmtiles(path);
  expect(source).toMatchObject(described);
  await expectTiles(source);
});

test('PMTiles by URL, in ranges', async () => {
  const server = await serveFiles({ 'a.pmtiles': pmtilesBytes(tiles, metadata, Compression.Gzip) });
  const source = await openPmtiles(`${server.url}/a.pmtiles`, fetchAnything);
  expect(source).toMatchObject(described);
  await expectTiles(source);
  await server.close();
});

test('a temporary failure of a server is not cached', async () => {
  const bytes = pmtilesBytes(tiles, metadata, Compression.Gzip);
  let down = false;
  const source = await openPmtiles('https://example.com/a.pmtiles', async (_url, { range }) => {
    if (down) throw new Error('down');
    const [first, last] = range!.slice('bytes='.length).split('-').map(Number);
    return { status: 206, headers: {}, bytes: bytes.subarray(first, last! + 1) };
  });
  down = true;
  await expect(source.tile(0, 0, 0)).rejects.toThrow('down');
  down = false;
  await expectTiles(source);
});

test('an archive without layer names is inspected', async () => {
  const path = join(folder, 'archive.pmtiles');
  await writeFile(path, pmtilesBytes([tiles[0]!], {}, Compression.Gzip));
  const source = await openPmtiles(path);
  expect(source.layers).toEqual(['earth']);
  await source.close();
});

/**
 * Tiles of a country far from the middle of the map, with roads in the deepest ones only, and a directory of leaves.
 */
const country = [
  {
    zoom: 0,
    x: 0,
    y: 0,
    bytes: tileBytes({ boundary: [{ type: 'line', parts: [rectangle(0, 0, 9, 9)] }] }),
  },
  ...Array.from({ length: 9_000 }, (_, i) => {
    const [x, y] = [14_000 + (i % 100), 9_000 + Math.floor(i / 100)];
    const roads = [{ type: 'line', parts: [rectangle(x % 4_000, y % 4_000, x, y)] }] as const;
    return { zoom: 14, x, y, bytes: tileBytes({ transportation: [...roads] }) };
  }),
];

test('an archive without layer names is inspected at tiles of its directory, wherever they are', async () => {
  const path = join(folder, 'country.pmtiles');
  await writeFile(path, pmtilesArchive(country, { metadata: {}, bounds: [-180, -85, 180, 85] }));
  const source = await openPmtiles(path);
  expect(source.layers?.toSorted()).toEqual(['boundary', 'transportation']);
  expect(detectSchema(source)).toBe('openmaptiles');
  await source.close();
});

test('an MBTiles file without layer names is inspected at every zoom', async () => {
  const path = join(folder, 'country.mbtiles');
  writeMbtiles(path, country.slice(0, 50), { format: 'pbf' });
  const source = await openMbtiles(path);
  expect(source.layers?.toSorted()).toEqual(['boundary', 'transportation']);
  await source.close();
});

test('damaged tiles among the samples do not hide the layers of others', async () => {
  const path = join(folder, 'damaged.pmtiles');
  const damaged = { zoom: 1, x: 1, y: 1, bytes: Buffer.from('<html>') };
  await writeFile(path, pmtilesBytes([tiles[0]!, damaged], {}, Compression.None));
  const source = await openPmtiles(path);
  expect(source.layers).toEqual(['earth']);
  await source.close();
  await writeFile(path, pmtilesBytes([damaged], {}, Compression.None));
  await expect(openPmtiles(path)).rejects.toThrow();
});

test('the area of an archive is known, unless its metadata is wrong', async () => {
  const path = join(folder, 'area.pmtiles');
  await writeFile(path, pmtilesArchive(country.slice(0, 2), { metadata: {}, bounds: [11, 43, 12, 44] }));
  const source = await openPmtiles(path);
  expect(source.bounds).toEqual([11, 43, 12, 44]);
  await source.close();
  for (const [bounds, expected] of [
    ['11,43,12,44', [11, 43, 12, 44]],
    ['170,-10,-170,10', null],
    ['everywhere', null],
  ] as const) {
    const file = join(folder, `${bounds}.mbtiles`);
    writeMbtiles(file, tiles, { ...mbtilesMetadata, bounds });
    const opened = await openMbtiles(file);
    expect(opened.bounds).toEqual(expected);
    await opened.close();
  }
});

test('raster PMTiles have the size of their images', async () => {
  const picture = await sharp({ create: { width: 256, height: 256, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const path = join(folder, 'archive.pmtiles');
  await writeFile(path, pmtilesBytes([{ zoom: 0, x: 0, y: 0, bytes: picture }], {}, Compression.None, TileType.Png));
  const source = await openPmtiles(path);
  expect(source).toMatchObject({ kind: 'raster', tileSizePx: 256, layers: null });
  await source.close();
});

const pictureBytes = (): Promise<Buffer> =>
  sharp({ create: { width: 256, height: 256, channels: 3, background: 'red' } })
    .png()
    .toBuffer();

// Pictures were read as vector tiles, and the archive was refused with "Unimplemented type: 3".
test.each([
  ['nothing', {}],
  ['PNG', { format: 'PNG' }],
  ['a media type', { format: 'image/png' }],
  ['vector tiles', { format: 'pbf' }],
] as const)('MBTiles of pictures are raster tiles if their metadata says %s', async (_name, said) => {
  const path = join(folder, 'pictures.mbtiles');
  writeMbtiles(path, [{ zoom: 0, x: 0, y: 0, bytes: await pictureBytes() }], said);
  const source = await openMbtiles(path);
  expect(source).toMatchObject({ kind: 'raster', tileSizePx: 256, layers: null });
  await source.close();
});

test.each([
  ['unknown', TileType.Unknown],
  ['wrong', TileType.Mvt],
])('PMTiles of pictures are raster tiles if their type is %s', async (_name, type) => {
  const path = join(folder, 'pictures.pmtiles');
  const bytes = await pictureBytes();
  await writeFile(path, pmtilesBytes([{ zoom: 0, x: 0, y: 0, bytes }], {}, Compression.None, type));
  const source = await openPmtiles(path);
  expect(source).toMatchObject({ kind: 'raster', tileSizePx: 256, layers: null });
  await source.close();
});

// The archive was refused with "Input Bit Array is empty".
test('empty tiles of an archive are no tiles', async () => {
  const empty = { zoom: 0, x: 0, y: 0, bytes: new Uint8Array() };
  const pictures = [empty, { zoom: 1, x: 0, y: 0, bytes: await pictureBytes() }];
  const path = join(folder, 'empty');
  await writeFile(`${path}.pmtiles`, pmtilesBytes(pictures, {}, Compression.None, TileType.Png));
  writeMbtiles(`${path}.mbtiles`, pictures, { format: 'png' });
  for (const source of [await openPmtiles(`${path}.pmtiles`), await openMbtiles(`${path}.mbtiles`)]) {
    expect(source).toMatchObject({ kind: 'raster', tileSizePx: 256 });
    expect(await source.tile(0, 0, 0)).toBeUndefined();
    await source.close();
  }
});

// The archive was refused with "split is not a function".
test('metadata of MBTiles that is not text is ignored', async () => {
  const path = join(folder, 'numbers.mbtiles');
  writeMbtiles(path, tiles, { ...mbtilesMetadata, bounds: Buffer.from('1'), format: null } as never);
  const source = await openMbtiles(path);
  expect(source).toMatchObject({ ...described, bounds: null });
  await source.close();
});

test('PMTiles without metadata are inspected', async () => {
  const path = join(folder, 'archive.pmtiles');
  await writeFile(path, pmtilesBytes([tiles[0]!], null as never, Compression.None));
  const source = await openPmtiles(path);
  expect(source).toMatchObject({ attribution: '', layers: ['earth'] });
  await source.close();
});

/** Writes fields of the header of an archive: 64-bit numbers by their position. */
function withHeader(bytes: Uint8Array, fields: Readonly<Record<number, number>>): Buffer {
  const changed = Buffer.from(bytes);
  for (const [at, value] of Object.entries(fields)) changed.writeBigUInt64LE(BigInt(value), Number(at));
  return changed;
}
const rootAt = 127;
const plainArchive = pmtilesBytes([tiles[0]!], {}, Compression.None);

describe('an archive that is damaged, or lies', () => {
  const open = async (bytes: Uint8Array) => {
    const path = join(folder, 'archive.pmtiles');
    await writeFile(path, bytes);
    const source = await openPmtiles(path);
    onTestFinished(() => source.close());
    return source;
  };

  // The tile was drawn as far as it was there.
  test('regression: a tile that is cut off is a failure, from a file and from a server', async () => {
    const cut = pmtilesBytes(tiles, metadata, Compression.None).subarray(0, -8);
    // In the order of the archive.
    const last = tiles[1]!;
    await expect((await open(cut)).tile(last.zoom, last.x, last.y)).rejects.toThrow('it was cut off or replaced');
    const server = await serveFiles({ 'a.pmtiles': cut });
    onTestFinished(() => server.close());
    const remote = await openPmtiles(`${server.url}/a.pmtiles`, fetchAnything);
    await expect(remote.tile(last.zoom, last.x, last.y)).rejects.toThrow('it was cut off or replaced');
  });

  // Memory of this size was allocated.
  test.each([2 ** 30, 2 ** 50])('regression: metadata of %i bytes is not read', async (length) => {
    await expect(open(withHeader(plainArchive, { 32: length }))).rejects.toThrow('which is too much');
  });

  // Opening it did not end, until the process was killed because it was not ready in time.
  test('regression: a directory that contains itself is refused', async () => {
    const cyclic = withHeader(plainArchive, { 40: rootAt });
    // One entry: tile 0, a run of none, as long as the directory, at its beginning.
    cyclic.set([1, 0, 0, 5, 1], rootAt);
    await expect(open(cyclic)).rejects.toThrow('directories of the archive are more than 3 deep');
  });

  // It took 1 GB.
  test('regression: a directory of millions of entries is refused', async () => {
    const entries = Buffer.alloc(12_000_004);
    entries.set([0xc0, 0x8d, 0xb7, 0x01]);
    const root = gzipSync(entries);
    const bomb = withHeader(Buffer.concat([pmtilesBytes([], {}, Compression.Gzip).subarray(0, rootAt), root]), {
      16: root.length,
    });
    await expect(open(bomb)).rejects.toThrow('more than 4 MiB when it is decompressed');
    // Without compression it was read.
    const rootOffset = plainArchive.length;
    // One entry: tile 0, a run of none, 12,000,004 bytes at the beginning of the directories of leaves.
    const toLeaf = Buffer.from([1, 0, 0, 0x84, 0xb6, 0xdc, 0x05, 1]);
    const plainBomb = withHeader(Buffer.concat([plainArchive, toLeaf, entries]), {
      8: rootOffset,
      16: toLeaf.length,
      40: rootOffset + toLeaf.length,
    });
    await expect(open(plainBomb)).rejects.toThrow('a part of the archive has more than 4 MiB');
  });
});

describe('an archive that is replaced while it is open', () => {
  const place = tiles[1]!;
  const tileOf = (width: number) => tileBytes({ earth: [{ type: 'polygon', parts: [rectangle(0, 0, width, 100)] }] });
  /** Longer metadata gives all tiles another place. */
  const archiveOf = (bytes: Uint8Array, description = '') =>
    pmtilesBytes([{ ...place, bytes }], { ...metadata, description }, Compression.None);
  const before = archiveOf(tileOf(100), 'long'.repeat(100));
  const after = archiveOf(tileOf(50));

  const expectReplaced = async (source: TileSource, replace: () => unknown): Promise<void> => {
    const read = async () => Buffer.from((await source.tile(place.zoom, place.x, place.y))!);
    expect(await read()).toEqual(Buffer.from(tileOf(100)));
    await replace();
    expect(await read()).toEqual(Buffer.from(tileOf(50)));
  };

  const replacements: readonly [how: string, replace: (from: string, to: string) => Promise<void>][] = [
    ['written over', (from, to) => copyFile(from, to)],
    ['replaced', (from, to) => rename(from, to)],
  ];

  const part = (bytes: Uint8Array, range: string): Uint8Array => {
    const [first, last] = range.slice('bytes='.length).split('-').map(Number);
    return bytes.subarray(first, last! + 1);
  };
  /** A server answers 416 for ranges beyond the end (RFC 9110, 15.5.17). */
  const servers: Record<string, (archive: Uint8Array) => Record<string, string>> = {
    'with an ETag': ({ length }) => ({ etag: `"${length}"` }),
    'with a weak ETag, and sizes': ({ length }) => ({ etag: `W/"${length}"`, 'content-range': `bytes 0-9/${length}` }),
    'without either': () => ({}),
  };
  // Tiles beyond the end of the new archive failed, and without ETag all others.
  test.each(Object.entries(servers))('regression: a smaller one by URL, %s', async (_name, headersOf) => {
    let archive = before;
    const source = await openPmtiles('https://example.com/a.pmtiles', async (_url, { range }) => {
      const bytes = part(archive, range!);
      return { status: bytes.length > 0 ? 206 : 416, headers: headersOf(archive), bytes };
    });
    await expectReplaced(source, () => {
      archive = after;
    });
  });

  test.each(Object.entries(servers).slice(0, 2))('regression: a larger one by URL, %s', async (_name, headersOf) => {
    let archive = archiveOf(tileOf(100));
    const source = await openPmtiles('https://example.com/a.pmtiles', async (_url, { range }) => {
      return { status: 206, headers: headersOf(archive), bytes: part(archive, range!) };
    });
    await expectReplaced(source, () => {
      archive = archiveOf(tileOf(50), 'long'.repeat(100));
    });
  });

  test('is read from either of two servers, of which one has no ETag', async () => {
    let headers: Record<string, string> = { etag: '"1"' };
    const source = await openPmtiles('https://example.com/a.pmtiles', async (_url, { range }) => {
      return { status: 206, headers, bytes: part(before, range!) };
    });
    headers = { 'content-range': `bytes 0-9/${before.length}` };
    expect(await source.tile(place.zoom, place.x, place.y)).toBeDefined();
  });

  // The tiles of one that was written over failed, and those of one that was replaced were drawn until a restart.
  test.each(replacements)('regression: a PMTiles file that is %s', async (_how, replace) => {
    const path = join(folder, 'archive.pmtiles');
    const next = join(folder, 'next.pmtiles');
    await writeFile(path, before);
    await writeFile(next, after);
    const source = await openPmtiles(path);
    onTestFinished(() => source.close());
    await expectReplaced(source, () => replace(next, path));
  });

  // Its former tiles were drawn, or an error of the engine, until a restart.
  test.each(replacements)('regression: an MBTiles file that is %s', async (_how, replace) => {
    const path = join(folder, 'archive.mbtiles');
    const next = join(folder, 'next.mbtiles');
    writeMbtiles(path, [{ ...place, bytes: tileOf(100) }, ...country.slice(1, 2_000)], { format: 'pbf' });
    writeMbtiles(next, [{ ...place, bytes: tileOf(50) }], { format: 'pbf' });
    const source = await openMbtiles(path);
    onTestFinished(() => source.close());
    await expectReplaced(source, () => replace(next, path));
  });

  test('is read as it was while an MBTiles file is missing', async () => {
    const path = join(folder, 'archive.mbtiles');
    writeMbtiles(path, [{ ...place, bytes: tileOf(100) }], { format: 'pbf' });
    const source = await openMbtiles(path);
    onTestFinished(() => source.close());
    await rm(path);
    expect(Buffer.from((await source.tile(place.zoom, place.x, place.y))!)).toEqual(Buffer.from(tileOf(100)));
    writeMbtiles(path, [{ ...place, bytes: tileOf(50) }], { format: 'pbf' });
    expect(Buffer.from((await source.tile(place.zoom, place.x, place.y))!)).toEqual(Buffer.from(tileOf(50)));
  });
});

// A list of all zooms up to this one was made.
test('regression: MBTiles with a tile of an impossible zoom are opened', async () => {
  const path = join(folder, 'archive.mbtiles');
  writeMbtiles(path, [tiles[0]!, { ...tiles[0]!, zoom: 900 }], { format: 'pbf' });
  const database = new sqlite.Database(path);
  database.run('UPDATE tiles SET zoom_level = 5000000000 WHERE zoom_level = 900');
  database.close();
  const source = await openMbtiles(path);
  expect(source).toMatchObject({ layers: ['earth'], minZoom: 0 });
  await source.close();
});

// The messages had the name of a temporary link, or an offset.
test.each([
  ['missing.mbtiles', undefined, /ENOENT.*missing\.mbtiles/],
  ['missing.pmtiles', undefined, /ENOENT.*missing\.pmtiles/],
  ['', undefined, /is not a file|EISDIR/],
  ['short.pmtiles', 'PMTiles', /shorter than the header of a PMTiles archive/],
  ['empty.pmtiles', '', /shorter than the header of a PMTiles archive/],
] as const)('the reason why "%s" cannot be opened names the file or its fault', async (name, content, reason) => {
  const path = join(folder, name);
  if (content !== undefined) await writeFile(path, content);
  await expect(name.endsWith('.pmtiles') ? openPmtiles(path) : openMbtiles(path)).rejects.toThrow(reason);
});

test('other files are refused', async () => {
  const path = join(folder, 'archive');
  await writeFile(path, 'nothing of the kind'.repeat(100));
  await expect(openPmtiles(path)).rejects.toThrow();
  await expect(openMbtiles(path)).rejects.toThrow();
  await expect(openMbtiles(join(folder, 'missing'))).rejects.toThrow();
});

const mbtilesMetadata = {
  attribution: metadata.attribution,
  json: JSON.stringify({ vector_layers: metadata.vector_layers }),
};

test('MBTiles, with and without compression', async () => {
  const path = join(folder, 'archive.mbtiles');
  const mixed = tiles.map((tile, i) => (i === 0 ? tile : { ...tile, bytes: gzipSync(tile.bytes) }));
  writeMbtiles(path, mixed, mbtilesMetadata);
  const source = await openMbtiles(path);
  expect(source).toMatchObject(described);
  await expectTiles(source);
});

// The engine locks a file by making a folder beside it, and keeps it while a statement is open. A second reader was
// told "database is locked".
// A process that was killed left the folder of its link.
test('regression: an open MBTiles file keeps no temporary folder', async () => {
  const path = join(folder, 'archive.mbtiles');
  writeMbtiles(path, tiles, mbtilesMetadata);
  const temporary = await mkdtemp(join(folder, 'temporary-'));
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const source = await openMbtiles(path);
  expect(await readdir(temporary)).toEqual([]);
  await expectTiles(source);
  await expect(openMbtiles(join(folder, 'missing'))).rejects.toThrow();
  expect(await readdir(temporary)).toEqual([]);
});

test('MBTiles can be opened twice, and no files are created beside them', async () => {
  const path = join(folder, 'archive.mbtiles');
  writeMbtiles(path, tiles, mbtilesMetadata);
  const first = await openMbtiles(path);
  await first.tile(0, 0, 0);
  const second = await openMbtiles(path);
  expect(await readdir(folder)).toEqual(['archive.mbtiles']);
  await expectTiles(second);
  await expectTiles(first);
});

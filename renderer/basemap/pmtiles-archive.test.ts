import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { PMTiles } from 'pmtiles';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { type ArchiveTile, pmtilesArchive } from './pmtiles-archive.js';

const description = { metadata: { attribution: 'Somebody' }, bounds: [-180, -85, 180, 85] } as const;

/** Read by the package that everybody reads such archives with. */
function readerOf(archive: Uint8Array): PMTiles {
  const getBytes = async (offset: number, length: number) => ({
    data: Uint8Array.from(archive.subarray(offset, offset + length)).buffer,
  });
  return new PMTiles({ getKey: () => 'archive', getBytes });
}

const place = fc.integer({ min: 0, max: 6 }).chain((zoom) => {
  const number = fc.integer({ min: 0, max: 2 ** zoom - 1 });
  return fc.record({ zoom: fc.constant(zoom), x: number, y: number });
});
/** Few contents, so that many are equal. */
const tile = fc
  .tuple(place, fc.uint8Array({ minLength: 1, maxLength: 2 }))
  .map(([at, bytes]): ArchiveTile => ({ ...at, bytes }));
const tiles = fc.uniqueArray(tile, { minLength: 1, maxLength: 200, selector: ({ zoom, x, y }) => `${zoom}/${x}/${y}` });

test('every tile is read back at its position', async () => {
  await fc.assert(
    fc.asyncProperty(tiles, place, async (written, elsewhere) => {
      const reader = readerOf(pmtilesArchive(written, description));
      const bytesAt = async ({ zoom, x, y }: { zoom: number; x: number; y: number }) => {
        const found = await reader.getZxy(zoom, x, y);
        return found && [...new Uint8Array(found.data)];
      };
      for (const expected of written) expect(await bytesAt(expected)).toEqual([...expected.bytes]);
      const there = written.find(({ zoom, x, y }) => zoom === elsewhere.zoom && x === elsewhere.x && y === elsewhere.y);
      expect(await bytesAt(elsewhere)).toEqual(there && [...there.bytes]);
    }),
    { numRuns: propertyRuns(50) },
  );
});

test('the bytes do not depend on the order of the tiles', () => {
  fc.assert(
    fc.property(tiles, (written) => {
      expect(pmtilesArchive([...written].reverse(), description)).toEqual(pmtilesArchive(written, description));
    }),
    { numRuns: propertyRuns(20) },
  );
});

test('equal tiles are stored once, and a run of them is one entry', async () => {
  const ocean = new Uint8Array(1000).fill(7);
  const all = [0, 1].flatMap((x) => [0, 1].map((y) => ({ zoom: 1, x, y, bytes: ocean })));
  const header = await readerOf(pmtilesArchive(all, description)).getHeader();
  expect([header.numAddressedTiles, header.numTileEntries, header.numTileContents]).toEqual([4, 1, 1]);
});

test('a directory too large for the first request is split into leaves', async () => {
  const zoom = 8;
  const size = 2 ** zoom;
  // Contents of irregular lengths that gzip can't shorten: regular ones would make the directory small.
  const written = Array.from({ length: 18_000 }, (_, i): ArchiveTile => {
    const noise = createHash('sha512').update(`${i}`).digest();
    return { zoom, x: i % size, y: Math.floor(i / size), bytes: noise.subarray(0, 1 + noise[0]! / 4) };
  });
  const archive = pmtilesArchive(written, description);
  const reader = readerOf(archive);
  const header = await reader.getHeader();
  expect(header.rootDirectoryOffset + header.rootDirectoryLength).toBeLessThanOrEqual(16_384);
  expect(header.leafDirectoryLength).toBeGreaterThan(0);
  for (let i = 0; i < written.length; i += 997) {
    const { x, y, bytes } = written[i]!;
    expect(new Uint8Array((await reader.getZxy(zoom, x, y))!.data)).toEqual(new Uint8Array(bytes));
  }
});

test('metadata and zooms are written', async () => {
  const reader = readerOf(pmtilesArchive([{ zoom: 3, x: 1, y: 2, bytes: new Uint8Array([1]) }], description));
  expect(await reader.getMetadata()).toEqual(description.metadata);
  expect(await reader.getHeader()).toMatchObject({ minZoom: 3, maxZoom: 3, minLon: -180, maxLat: 85, clustered: true });
});

test('an empty archive is refused', () => {
  expect(() => pmtilesArchive([], description)).toThrow(RangeError);
});

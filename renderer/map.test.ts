import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Compression, TileType } from 'pmtiles';
import sharp from 'sharp';
import { afterAll, afterEach, expect, test } from 'vitest';
import { rasterizeIcon } from './icons/rasterize.js';
import { createMapRenderer, type MapRenderer } from './map.js';
import { fetchAnything, pmtilesBytes, serveFiles, writeMbtiles } from './testing/archives.js';
import { pictureOf } from './testing/pictures.js';
import { rectangle, tileBytes } from './testing/tiles.js';
import type { MapRequest } from './types.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-map-'));
afterAll(() => rmSync(folder, { recursive: true }));
let renderer: MapRenderer | undefined;
afterEach(close);

/** Water everywhere, named as OpenMapTiles does. */
const sea = tileBytes({ water: [{ type: 'polygon', parts: [rectangle(-100, -100, 4_200, 4_200)] }] });
const tile = { zoom: 0, x: 0, y: 0, bytes: sea };
const metadata = { vector_layers: [{ id: 'water' }, { id: 'transportation' }], attribution: '<b>&copy; Somebody</b>' };
const archiveBytes = pmtilesBytes([tile], metadata, Compression.Gzip);

function file(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const request: MapRequest = {
  ...{ width: 300, height: 200, scale: 1, style: 'svc-default-v1', language: 'en', format: 'png' },
  ...{ markers: [], paths: [], fences: [], camera: { center: [0, 0], zoom: 1, bbox: null } },
};

async function open(archive: string): Promise<MapRenderer> {
  await close();
  renderer = await createMapRenderer({ archive, cacheFolder: folder, fetchBytes: fetchAnything });
  return renderer;
}

async function close(): Promise<void> {
  await renderer?.close();
  renderer = undefined;
}

/** The colour away from everything but the tiles. */
const groundOf = async (bytes: Uint8Array) => (await pictureOf(bytes)).at(10, 10);

test('an archive is the same by path, by URL and as MBTiles', async () => {
  const mbtiles = join(folder, 'sea.mbtiles');
  writeMbtiles(mbtiles, [tile], { format: 'pbf', attribution: metadata.attribution, json: JSON.stringify(metadata) });
  const server = await serveFiles({ 'sea.pmtiles': archiveBytes });
  const images: Uint8Array[] = [];
  for (const archive of [file('sea.pmtiles', archiveBytes), `${server.url}/sea.pmtiles`, mbtiles]) {
    const { render } = await open(archive);
    images.push((await render(request)).bytes);
  }
  await server.close();
  const [first, ...others] = images;
  for (const other of others) expect(Buffer.from(other).equals(Buffer.from(first!))).toBe(true);
});

test('a raster archive is drawn in every style', async () => {
  const image = await sharp({ create: { width: 256, height: 256, channels: 3, background: '#336699' } })
    .png()
    .toBuffer();
  const { render } = await open(
    file('images.pmtiles', pmtilesBytes([{ ...tile, bytes: image }], {}, Compression.None, TileType.Png)),
  );
  for (const style of ['svc-default-v1', 'svc-dark-v1']) {
    expect(await groundOf((await render({ ...request, style })).bytes)).toBe('#336699');
  }
});

test('styles differ, and a missing style is reported', async () => {
  const { render } = await open(file('sea.pmtiles', archiveBytes));
  const colors = await Promise.all(
    ['svc-default-v1', 'svc-light-v1', 'svc-dark-v1'].map(async (style) =>
      groundOf((await render({ ...request, style })).bytes),
    ),
  );
  expect(new Set(colors).size).toBe(3);
  await expect(render({ ...request, style: 'streets' })).rejects.toMatchObject({
    code: 'invalid_parameter',
    param: 'style',
  });
});

test('missing icons are counted and drawn as pins', async () => {
  const { render } = await open(file('sea.pmtiles', archiveBytes));
  const icon = await sharp({ create: { width: 20, height: 20, channels: 3, background: '#ff00ff' } })
    .png()
    .toBuffer();
  const group = (name: string, longitude: number) =>
    ({ color: [255, 0, 0, 1], size: 'normal', icon: name, locations: [[longitude, 0]] }) as const;
  const markers = [group('good', -30), group('none', 0), group('other', 30), group('other', 40)];
  const raster = await rasterizeIcon(icon, request.scale);
  if (!raster.ok) throw new Error(raster.problem.rule);
  const map = await render({ ...request, markers }, new Map([['good', raster.value]]));
  expect(map.missingIcons).toBe(2);
  const picture = await pictureOf(map.bytes);
  expect(picture.count('#ff00ff')).toBeGreaterThan(300);
  expect(picture.count('#ff0000')).toBeGreaterThan(3 * 200);
});

test.each([
  [
    'of no known schema',
    () => file('odd.pmtiles', pmtilesBytes([tile], { vector_layers: [{ id: 'odd' }] }, Compression.None)),
  ],
  ['that is none', () => file('none.pmtiles', Buffer.from('not an archive'))],
  ['that is not there', () => join(folder, 'missing.pmtiles')],
])('an archive %s is refused at once', async (_name, path) => {
  await expect(createMapRenderer({ archive: path(), cacheFolder: folder })).rejects.toThrow();
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Compression, TileType } from 'pmtiles';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../schemas/random.js';
import { rasterizeIcon } from './icons/rasterize.js';
import { createMapRenderer, type MapRenderer, type MapRendererOptions } from './map.js';
import { defaultRendererLimits } from './render.js';
import { builtInStyles } from './styles/names.js';
import { fetchAnything, pmtilesBytes, serveFiles, writeMbtiles } from './testing/archives.js';
import { cachedBasemap, rendererCacheFolder } from './testing/basemap-cache.js';
import { pictureOf } from './testing/pictures.js';
import { exampleRequest } from './testing/requests.js';
import { rectangle, tileBytes } from './testing/tiles.js';
import type { FenceOverlay, MapRequest, MarkerGroup, PathOverlay, Position } from './types.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-map-'));
afterAll(() => rmSync(folder, { recursive: true }));
let renderer: MapRenderer | undefined;
afterEach(close);

/** Water everywhere, named as OpenMapTiles does. */
const sea = tileBytes({ water: [{ type: 'polygon', parts: [rectangle(-100, -100, 4_200, 4_200)] }] });
const tile = { zoom: 0, x: 0, y: 0, bytes: sea };
const metadata = { vector_layers: [{ id: 'water' }, { id: 'transportation' }], attribution: '<b>&copy; Somebody</b>' };
const archiveBytes = pmtilesBytes([tile], metadata, Compression.Gzip);

/** An uploaded style. */
const redWater = Buffer.from(
  JSON.stringify({
    version: 8,
    sources: { s: { type: 'vector' } },
    layers: [{ id: 'w', type: 'fill', source: 's', 'source-layer': 'water', paint: { 'fill-color': '#ff0000' } }],
  }),
);

function file(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const request = exampleRequest({ width: 300, height: 200, style: 'svc-default-v1' });

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

describe('maps of one view', () => {
  const archive = fileURLToPath(new URL('./reference/archives/san-francisco.pmtiles', import.meta.url));
  beforeAll(() => cachedBasemap());
  const random = createRandom(18).next;
  const near = ([longitude, latitude]: Position): Position => [
    longitude + 0.01 * (random() - 0.5),
    latitude + 0.006 * (random() - 0.5),
  ];
  const marker = (at: Position): MarkerGroup => ({
    color: [228, 0, 43, 1],
    size: 'normal',
    icon: null,
    locations: [near(at), near(at)],
  });
  const path = (at: Position): PathOverlay => ({
    stroke: [31, 111, 235, 1],
    width: 4,
    border: [255, 255, 255, 1],
    borderWidth: 1,
    locations: [near(at), near(at), near(at)],
  });
  const fence = (at: Position): FenceOverlay => ({ type: 'circle', center: near(at), radiusM: 100 });

  test.each([
    ['svc-default-v1', 15, 1],
    ['svc-dark-v1', 15.7, 2],
    ['svc-light-v1', 14.2, 1.5],
  ])(
    'with other overlays have the pixels of maps that nothing is known of: %s at zoom %s @%sx',
    async (style, zoom, scale) => {
      const limits = { ...defaultRendererLimits, maxViewBytes: 2 ** 26 };
      const knowing = await createMapRenderer({ archive, cacheFolder: rendererCacheFolder, limits });
      const forgetful = await createMapRenderer({
        archive,
        cacheFolder: rendererCacheFolder,
        limits: { ...limits, maxViewBytes: 0 },
      });
      const center: Position = [-122.3966, 37.7928];
      const view = { ...request, width: 500, height: 350, scale, style, camera: { center, zoom, bbox: null } };
      const none = { markers: [], paths: [], fences: [] };
      const kinds = [
        () => none,
        () => ({ ...none, markers: [marker(center)] }),
        () => ({ ...none, markers: [marker(center)], paths: [path(center)] }),
        () => ({ ...none, fences: [fence(center), fence(center)] }),
      ];
      for (let i = 0; i < 12; i++) {
        const map = { ...view, ...kinds[(i % 5) % 4]!() };
        const [known, fresh] = [await knowing.render(map), await forgetful.render(map)];
        expect(Buffer.from(known.bytes).equals(fresh.bytes), `map ${i}`).toBe(true);
      }
      await Promise.all([knowing.close(), forgetful.close()]);
    },
  );
});

// Parts of tiles are prepared when a view first shows them.
test('a map has the same pixels whatever parts of its tiles were drawn before', async () => {
  const archive = fileURLToPath(new URL('./reference/archives/florence.pmtiles', import.meta.url));
  const limits = { ...defaultRendererLimits, maxViewBytes: 0 };
  const fresh = () => createMapRenderer({ archive, cacheFolder: rendererCacheFolder, limits });
  await cachedBasemap();
  const random = createRandom(7).next;
  const knowing = await fresh();
  for (let i = 0; i < 5; i++) {
    const center: Position = [11.255 + 0.01 * (random() - 0.5), 43.77 + 0.008 * (random() - 0.5)];
    const map = { ...request, camera: { center, zoom: 15.5 + random(), bbox: null } };
    const forgetful = await fresh();
    const [known, alone] = [await knowing.render(map), await forgetful.render(map)];
    expect(Buffer.from(known.bytes).equals(alone.bytes), `map ${i}`).toBe(true);
    await forgetful.close();
  }
  await knowing.close();
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

const france = { center: [2.5, 46.5], zoom: 7.5, bbox: null } as const;

describe('a view where the archive has no tiles', () => {
  /** One tile at zoom 6, in the Pacific. */
  const part = pmtilesBytes([{ ...tile, zoom: 6, x: 2, y: 30 }], metadata, Compression.Gzip);
  const inside = { center: [-166, 8], zoom: 6.5, bbox: null } as const;

  async function openPart(options: Partial<MapRendererOptions> = {}): Promise<MapRenderer> {
    await close();
    const archive = file('part.pmtiles', part);
    renderer = await createMapRenderer({ archive, cacheFolder: rendererCacheFolder, ...options });
    return renderer;
  }
  beforeAll(() => cachedBasemap());

  test('is drawn from the built-in basemap in the built-in styles, with its attribution', async () => {
    const { render } = await openPart();
    const own = await createMapRenderer({ archive: null, cacheFolder: rendererCacheFolder });
    for (const camera of [france, { ...inside, zoom: 4 }]) {
      for (const style of builtInStyles) {
        const asked = { ...request, camera, style };
        const [map, expected] = [await render(asked), await own.render(asked)];
        expect(Buffer.from(map.bytes).equals(Buffer.from(expected.bytes))).toBe(true);
        expect(map).not.toHaveProperty('emptyView');
      }
    }
    await own.close();
    expect(Buffer.from((await render({ ...request, camera: inside })).bytes).length).toBeGreaterThan(0);
  });

  test('is drawn from the basemap in part: shapes and names, each from the source that covers the place', async () => {
    const inFrance = pmtilesBytes([{ ...tile, zoom: 6, x: 32, y: 22 }], metadata, Compression.Gzip);
    const names = new Map<string, number>();
    await close();
    renderer = await createMapRenderer({
      archive: file('france.pmtiles', inFrance),
      cacheFolder: rendererCacheFolder,
      onLabels(labels) {
        for (const { candidate, placement } of labels) names.set(candidate.text, placement.runs[0]!.x);
      },
    });
    const half = { ...request, camera: { center: [0, 47], zoom: 6, bbox: null } } as const;
    const picture = await pictureOf((await renderer.render(half)).bytes);
    const own = await createMapRenderer({ archive: null, cacheFolder: rendererCacheFolder });
    const basemap = await pictureOf((await own.render(half)).bytes);
    await own.close();
    const water = picture.at(290, 10);
    expect(water).not.toBe(basemap.at(290, 10));
    const isRight = (x: number, y: number) => picture.at(x, y) === (x < 150 ? basemap.at(x, y) : water);
    const points = Array.from({ length: 300 * 180 }, (_, i): [number, number] => [i % 300, Math.floor(i / 300)]);
    // Names reach across the edge, and the attribution is longer.
    expect(points.filter(([x, y]) => isRight(x, y)).length).toBeGreaterThan(0.95 * points.length);
    expect([...names.keys()]).toContain('Angers');
    expect(Math.max(...names.values())).toBeLessThan(200);
  });

  test('is reported in an uploaded style, with its cause', async () => {
    const { render } = await openPart();
    const causeOf = async (camera: MapRequest['camera']) =>
      (await render({ ...request, style: 'own@1', camera }, undefined, redWater)).emptyView;
    expect(await causeOf(inside)).toBeUndefined();
    expect(await causeOf({ ...inside, zoom: 4 })).toBe('the archive has no tiles below zoom 6');
    expect(await causeOf(france)).toBe('the archive has no tiles in the area');
  });

  test('asks for the basemap where it is not there and may not be baked', async () => {
    const { render } = await openPart({ cacheFolder: folder, mayBake: false });
    expect(await render({ ...request, camera: france })).toMatchObject({ lacksBasemap: 'all' });
    expect(await render({ ...request, camera: inside })).not.toHaveProperty('lacksBasemap');
  });
});

test('an archive of no known schema is drawn in uploaded styles, and built-in styles say what was found', async () => {
  const layers = { vector_layers: [{ id: 'odd' }, { id: 'other' }] };
  const { render, found, webStyle } = await open(file('odd.pmtiles', pmtilesBytes([tile], layers, Compression.None)));
  expect(found).toMatchObject({ kind: 'vector', schema: null, layers: ['odd', 'other'], minZoom: 0, maxZoom: 0 });
  const refusal = { code: 'unavailable', message: expect.stringContaining('odd, other') };
  await expect(render(request)).rejects.toMatchObject(refusal);
  expect(() => webStyle('svc-dark-v1', 'en')).toThrow('odd, other');
  expect(await groundOf((await render({ ...request, style: 'own@1' }, undefined, redWater)).bytes)).toBe('#ff0000');
});

test('an interactive style has no layer that needs areas, which browsers cannot measure', async () => {
  const layers = { vector_layers: ['transportation', 'landcover', 'poi', 'place'].map((id) => ({ id })) };
  const { found, webStyle } = await open(file('omt.pmtiles', pmtilesBytes([tile], layers, Compression.None)));
  expect(found.schema).toBe('openmaptiles');
  const ids = webStyle('svc-dark-v1', 'en').layers.map(({ id }) => id);
  expect(ids.filter((id) => id.startsWith('label-poi-famous'))).not.toEqual([]);
  expect(ids.filter((id) => id.startsWith('label-poi-large'))).toEqual([]);
});

test.each([
  ['that is none', () => file('none.pmtiles', Buffer.from('not an archive'))],
  ['that is not there', () => join(folder, 'missing.pmtiles')],
])('an archive %s is refused at once', async (_name, path) => {
  await expect(createMapRenderer({ archive: path(), cacheFolder: folder })).rejects.toThrow();
});

// The basemap has no streets: the first map of a new installation was a pin on an empty picture.
test.each([null, 'san-francisco'])('regression: a single place beyond %s has towns around it', async (archive) => {
  const names: string[] = [];
  const path = archive && fileURLToPath(new URL(`./reference/archives/${archive}.pmtiles`, import.meta.url));
  const own = await createMapRenderer({
    archive: path,
    cacheFolder: rendererCacheFolder,
    onLabels: (labels) => void names.push(...labels.map(({ candidate }) => candidate.text)),
  });
  const camera = { center: null, zoom: null, bbox: null };
  const florence: MarkerGroup = { color: [228, 0, 43, 1], size: 'normal', icon: null, locations: [[11.2558, 43.7731]] };
  await own.render({ ...request, camera, markers: [florence] });
  await own.close();
  expect(names).toContain('Prato');
});

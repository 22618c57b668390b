import { gunzipSync, gzipSync } from 'node:zlib';
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { beforeEach, describe, expect, test } from 'vitest';
import type { WebFileRequest } from '../../renderer/web/requests.js';
import { freshId } from '../../schemas/ids.js';
import type { MapStyleRecord } from '../../schemas/json/map.js';
import { mapParts, startApi, useApi } from '../testing/fixtures.js';

/** The requests to the drawing processes. */
const styles: { readonly name: string; readonly language: string; readonly uploaded: Uint8Array | null }[] = [];
const files: WebFileRequest[] = [];
beforeEach(() => {
  styles.length = 0;
  files.length = 0;
});

const drawnStyle: StyleSpecification = {
  version: 8,
  sprite: '/maps/sprites/svc-default-v1',
  glyphs: '/maps/glyphs/{fontstack}/{range}.pbf',
  sources: { map: { type: 'vector', tiles: ['/maps/tiles/basemap/{z}/{x}/{y}'] } },
  layers: [
    {
      id: 'labels',
      type: 'symbol',
      source: 'map',
      'source-layer': 'places',
      layout: { 'text-variable-anchor-offset': ['top', [0, 1]] },
    },
  ],
};
const isEmpty = (asked: WebFileRequest): boolean => asked.file === 'tile' && asked.zoom === 5;

const parts = mapParts({
  maxCacheBytes: 100_000,
  async webStyle(_project, asked) {
    styles.push(asked);
    return { result: drawnStyle, processorMs: 1 };
  },
  async webFile(_project, asked) {
    files.push(asked);
    const bytes = gzipSync(JSON.stringify(asked));
    return {
      result: isEmpty(asked) ? null : { kind: 'file', bytes, contentType: 'x/y', isGzip: true },
      processorMs: 1,
    };
  },
});
const api = await useApi({ maps: parts });
const publishable = api.project.key('test', 'publishable');

const get = (url: string, headers: Record<string, string> = { authorization: publishable }) =>
  api.app.inject({ url, headers: { host: 'maps.example', ...headers } });
const inUrl = (path: string) => `${path}?publishableKey=${publishable}`;

describe('a style', () => {
  test('has addresses with the publishable key, from the header or the URL', async () => {
    const address = (path: string) => `http://maps.example${inUrl(path)}`;
    for (const answer of [
      await get('/maps/styles/svc-default-v1'),
      await get(inUrl('/maps/styles/svc-default-v1'), {}),
    ]) {
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toMatchObject({
        sprite: address('/maps/sprites/svc-default-v1'),
        glyphs: address('/maps/glyphs/{fontstack}/{range}.pbf'),
        sources: { map: { tiles: [address('/maps/tiles/basemap/{z}/{x}/{y}')] } },
      });
      expect(answer.headers).toMatchObject({
        'cache-control': 'private, max-age=300',
        vary: 'Accept-Encoding, Authorization, X-Radar-SDK-Version, X-Radar-Mobile-Origin',
        'access-control-allow-origin': '*',
      });
    }
  });

  test('has names in the language of the device', async () => {
    const url = '/maps/styles/svc-default-v1?language=local';
    const answer = await get(url, { authorization: publishable, 'accept-language': 'pt-BR,pt;q=0.9,en;q=0.8' });
    expect(answer.headers.vary).toMatch(/, Accept-Language$/);
    expect(styles.map(({ language }) => language)).toEqual(['pt']);
  });

  test('has no secret key', async () => {
    const answer = await get('/maps/styles/svc-default-v1', { authorization: api.secret });
    expect(answer.body).not.toContain('_sk_');
    expect(answer.json().glyphs).toBe('http://maps.example/maps/glyphs/{fontstack}/{range}.pbf');
  });

  test('has the public address of the installation, if it is configured', async () => {
    const other = await startApi({ maps: { ...parts, publicUrl: 'https://public.example/maps/' } });
    const answer = await other.app.inject({
      url: '/maps/styles/svc-light-v1',
      headers: { authorization: other.project.key('test', 'secret') },
    });
    await other.close();
    expect(answer.json().sprite).toBe('https://public.example/maps/maps/sprites/svc-default-v1');
  });

  test.each(['default', 'light', 'dark'])('may be named as by other services: %s', async (kind) => {
    await get(`/maps/styles/radar-${kind}-v1?language=it-IT`);
    expect(styles).toMatchObject([{ name: `svc-${kind}-v1`, language: 'it', uploaded: null }]);
  });

  // Regression: the web SDK 4.1 and 4.2 showed no map, because MapLibre GL JS 2.4 refused the style.
  test.each([
    ['radar-dark-v1', {}, true],
    ['radar-dark-v1', { 'x-radar-sdk-version': '4.5.8' }, false],
    ['radar-dark-v1', { 'x-radar-mobile-origin': 'com.example.app' }, false],
    ['svc-dark-v1', {}, false],
  ])('is one for older libraries where an SDK may have one: %s with %s', async (name, headers, isForOlder) => {
    const answer = await get(inUrl(`/maps/styles/${name}`), headers);
    const [{ layout }] = answer.json().layers;
    expect(Object.hasOwn(layout, 'text-variable-anchor')).toBe(isForOlder);
    expect(Object.hasOwn(layout, 'text-variable-anchor-offset')).toBe(!isForOlder);
  });

  test('may be an uploaded one of the same project and environment, which caches must revalidate', async () => {
    const [id, updatedAt] = [freshId(), api.writer.nextTimestamp()];
    const identity = { _id: id, project: api.project.record._id, environment: 'test' } as const;
    const record: MapStyleRecord = { ...identity, createdAt: updatedAt, updatedAt, name: null, style: { a: 1 } };
    await api.writer.write([{ kind: 'map-style', id, record }]);
    const answer = await get(`/maps/styles/${id}`);
    expect(answer.headers['cache-control']).toBe('private, no-cache');
    expect(`${styles[0]?.uploaded}`).toBe('{"a":1}');
    const stranger = await get(`/maps/styles/${id}`, { authorization: api.project.key('live', 'publishable') });
    expect(stranger.json().meta).toMatchObject({ code: 400, param: 'style' });
  });

  test.each([
    ['/maps/styles/unknown', 'style'],
    ['/maps/styles/svc-dark-v1?language=', 'language'],
    ['/maps/styles/svc-dark-v1?lang=it', 'lang'],
  ])('names the parameter that is wrong: %s', async (url, param) => {
    expect((await get(url)).json().meta).toMatchObject({ code: 400, param });
  });
});

describe('a file', () => {
  const paths: readonly (readonly [path: string, asked: WebFileRequest])[] = [
    ['/maps/tiles/archive/3/4/5', { file: 'tile', tileset: 'archive', zoom: 3, x: 4, y: 5 }],
    ['/maps/glyphs/Noto%20Sans%20Bold,Other/256-511.pbf', { file: 'glyphs', face: 'bold', start: 256 }],
    ['/maps/sprites/radar-dark-v1@2x.png', { file: 'sprite', style: 'svc-dark-v1', format: 'png', pixelRatio: 2 }],
    ['/maps/sprites/svc-light-v1.json', { file: 'sprite', style: 'svc-light-v1', format: 'json', pixelRatio: 1 }],
  ];

  test.each(paths)('is made once, and answered in the encoding that the client accepts: %s', async (path, asked) => {
    const plain = await get(path);
    expect(plain.json()).toEqual(asked);
    expect(plain.headers).not.toHaveProperty('content-encoding');
    const compressed = await get(inUrl(path), { 'accept-encoding': 'br, gzip;q=0.8' });
    expect(compressed.headers).toMatchObject({
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=86400',
      vary: 'Accept-Encoding',
      'access-control-allow-origin': '*',
      etag: plain.headers.etag,
    });
    expect(JSON.parse(`${gunzipSync(compressed.rawPayload)}`)).toEqual(asked);
    const known = await get(path, { authorization: publishable, 'if-none-match': plain.headers.etag as string });
    expect(known).toMatchObject({ statusCode: 304, body: '' });
    expect(files).toEqual([asked]);
  });

  test('refused encodings are not used', async () => {
    const answer = await get('/maps/tiles/basemap/1/1/1', {
      authorization: publishable,
      'accept-encoding': 'gzip;q=0',
    });
    expect(answer.headers).not.toHaveProperty('content-encoding');
  });

  test('a tile that does not exist is answered 204, and cached', async () => {
    for (let i = 0; i < 2; i++)
      expect(await get('/maps/tiles/basemap/5/1/1')).toMatchObject({ statusCode: 204, body: '' });
    expect(files).toHaveLength(1);
  });

  test.each([
    ['/maps/tiles/basemap/25/0/0', 'z'],
    ['/maps/tiles/basemap/2/4/0', 'x'],
    ['/maps/tiles/basemap/2/0/-1', 'y'],
    ['/maps/tiles/basemap/2/0/1.pbf', 'y'],
    ['/maps/glyphs/Noto/0-256.pbf', 'range'],
    ['/maps/glyphs/Noto/1-256.pbf', 'range'],
    ['/maps/glyphs/Noto/65536-65791.pbf', 'range'],
  ])('names the parameter that is wrong: %s', async (url, param) => {
    expect((await get(url)).json().meta).toMatchObject({ code: 400, param });
    expect(files).toEqual([]);
  });

  test.each(['/maps/tiles/other/0/0/0', '/maps/sprites/other.png', '/maps/sprites/svc-dark-v1.gif'])(
    'that does not exist is answered 404: %s',
    async (url) => {
      expect((await get(url)).statusCode).toBe(404);
    },
  );

  // Each address of the installation, which the client chooses, has a style of its own.
  test('regression: is kept whatever hosts styles are requested from', async () => {
    await get('/maps/tiles/basemap/3/1/2');
    for (let i = 0; i < 200; i++) {
      const answer = await get('/maps/styles/svc-default-v1', { authorization: publishable, host: `a${i}.example` });
      expect(answer.json().glyphs).toContain(`//a${i}.example/`);
    }
    await get('/maps/tiles/basemap/3/1/2');
    expect(files).toHaveLength(1);
  });

  test('needs a key, and not a secret one in its URL', async () => {
    for (const [path] of [...paths, ['/maps/styles/svc-dark-v1'] as const]) {
      expect((await get(path, {})).statusCode).toBe(401);
      expect((await get(`${path}?publishableKey=${api.secret}`, {})).statusCode).toBe(403);
    }
  });

  test('counts for the cost of the key, unless it is kept', async () => {
    const slow = mapParts({
      ...parts,
      costPerKeyPerSecond: 100,
      webFile: async () => ({ result: null, processorMs: 5_000 }),
    });
    const limited = await startApi({ maps: slow, clock: () => 1_000_000 });
    const ask = (x: number) =>
      limited.app.inject({
        url: `/maps/tiles/basemap/3/${x}/0`,
        headers: { authorization: limited.project.key('test', 'publishable') },
      });
    const statuses = [];
    for (const x of [0, 1, 0]) statuses.push((await ask(x)).statusCode);
    await limited.close();
    expect(statuses).toEqual([204, 429, 204]);
  });
});

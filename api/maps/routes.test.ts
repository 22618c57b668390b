import { type AddressInfo, connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DrawnMap, MapRequest } from '../../renderer/types.js';
import { ApiError } from '../../schemas/errors.js';
import { until } from '../../testing/until.js';
import type { MapParts } from '../dependencies.js';
import { geofenceId } from '../geofences/record.js';
import { completeMap, mapParts, startApi, type TestApi } from '../testing/fixtures.js';

let api: TestApi;
let publishable: string;
/** The maps that were drawn. */
const drawn: MapRequest[] = [];
let draw: (request: MapRequest, signal: AbortSignal) => Promise<DrawnMap>;
/** Work that ends when its signal aborts. */
let endless: (signal: AbortSignal) => Promise<never>;
const mapOf = (text: string): DrawnMap => ({ ...completeMap, bytes: Buffer.from(text) });

beforeAll(async () => {
  const render: MapParts['render'] = async (_project, request, _uploads, signal) => {
    drawn.push(request);
    return { ...(await draw(request, signal!)), processorMs: 0 };
  };
  const webStyle: MapParts['webStyle'] = (_project, _style, signal) => endless(signal!);
  const webFile: MapParts['webFile'] = (_project, _file, signal) => endless(signal!);
  api = await startApi({ maps: mapParts({ render, webStyle, webFile, maxCacheBytes: 10_000 }) });
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  publishable = api.project.key('test', 'publishable');
});
afterAll(() => api.close());
beforeEach(() => {
  drawn.length = 0;
  draw = async ({ camera }) => mapOf(`map of ${camera.center}`);
});

let maps = 0;
/** Returns a query that no other test uses. */
const newQuery = (): string => {
  maps += 1;
  return `width=600&height=400&zoom=3&center=10,${maps}`;
};
const get = (
  query: string,
  headers: Record<string, string> = { authorization: publishable },
  method: 'GET' | 'HEAD' = 'GET',
) => api.app.inject({ method, url: `/maps/static?${query}`, headers });

describe('a finished image', () => {
  test('names the packages of fonts that it lacks, also when it is kept', async () => {
    draw = async () => ({ ...mapOf('boxes'), missingFonts: ['@a/georgian', '@a/lao'] });
    const query = newQuery();
    for (let i = 0; i < 2; i++)
      expect((await get(query)).headers['x-fenceline-missing-fonts']).toBe('@a/georgian, @a/lao');
    expect(drawn).toHaveLength(1);
    draw = async () => mapOf('complete');
    expect((await get(newQuery())).headers).not.toHaveProperty('x-fenceline-missing-fonts');
  });

  test('in the language of the device differs by Accept-Language', async () => {
    const inLanguage = (query: string, language: string) =>
      get(query, { authorization: publishable, 'accept-language': language });
    const query = `${newQuery()}&language=local`;
    expect((await inLanguage(query, 'it-CH,it;q=0.9')).headers.vary).toBe('Accept, Accept-Language');
    await inLanguage(query, 'de');
    const named = `${newQuery()}&language=fr`;
    expect((await inLanguage(named, 'it')).headers.vary).toBe('Accept');
    await inLanguage(named, 'de');
    expect(drawn.map(({ language }) => language)).toEqual(['it', 'de', 'fr']);
  });

  test('has the headers that caches need, and is drawn once', async () => {
    const query = newQuery();
    const first = await get(query);
    expect(first).toMatchObject({ statusCode: 200, body: `map of ${maps},10` });
    expect(first.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=86400',
      vary: 'Accept',
      etag: expect.stringMatching(/^"[\w-]{32}"$/),
    });
    expect((await get(query)).headers.etag).toBe(first.headers.etag);
    expect((await get(newQuery())).headers.etag).not.toBe(first.headers.etag);
    expect(drawn).toHaveLength(2);
  });

  test.each([
    ['the same', (etag: string) => etag],
    ['weak', (etag: string) => `W/${etag}`],
    ['one of several', (etag: string) => `"other", ${etag}`],
    ['any', () => '*'],
  ])('is not sent again to who has it: %s', async (_name, header) => {
    const query = newQuery();
    const etag = (await get(query)).headers.etag as string;
    const again = await get(query, { authorization: publishable, 'if-none-match': header(etag) });
    expect(again).toMatchObject({ statusCode: 304, body: '' });
    expect(again.headers).toMatchObject({ etag, 'cache-control': 'public, max-age=86400', vary: 'Accept' });
    const other = await get(query, { authorization: publishable, 'if-none-match': '"other"' });
    expect(other.statusCode).toBe(200);
  });

  // RFC 9110, 8.6: the length of an answer 304 is that of the image, or it is left out.
  test('has no length of 0 in an answer to HEAD that sends nothing', async () => {
    const query = newQuery();
    const first = await get(query, undefined, 'HEAD');
    expect(first.headers['content-length']).toBe(`${`map of ${maps},10`.length}`);
    const known = { authorization: publishable, 'if-none-match': String(first.headers.etag) };
    for (const method of ['GET', 'HEAD'] as const) {
      const again = await get(query, known, method);
      expect(again).toMatchObject({ statusCode: 304, body: '' });
      expect(again.headers).not.toHaveProperty('content-length');
    }
  });

  test('is shared by equivalent requests, but not by other formats', async () => {
    const query = newQuery();
    await get(query);
    await get(`style=svc-default-v1&language=en-GB&scale=1.0&${query}`);
    expect(drawn).toHaveLength(1);
    await get(query, { authorization: publishable, accept: 'image/webp,*/*' });
    expect(drawn.map(({ format }) => format)).toEqual(['png', 'webp']);
  });

  test('is drawn once for concurrent requests', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const asked = new Promise<void>((resolve) => {
      draw = async () => {
        resolve();
        await finished;
        return mapOf('late');
      };
    });
    const query = newQuery();
    const answers = Array.from({ length: 10 }, () => get(query));
    await asked;
    finish();
    expect((await Promise.all(answers)).map(({ body }) => body)).toEqual(Array(10).fill('late'));
    expect(drawn).toHaveLength(1);
  });

  test.each([{ missingTiles: 1 }, { missingIcons: 1 }])('with %j is not kept for long', async (missing) => {
    draw = async () => ({ ...mapOf('part'), ...missing });
    expect((await get(newQuery())).headers['cache-control']).toBe('public, max-age=60');
  });

  test('is evicted within the bound of bytes', async () => {
    draw = async () => mapOf('x'.repeat(6_000));
    const [one, other] = [newQuery(), newQuery()];
    for (const query of [one, other, other, one]) await get(query);
    expect(drawn).toHaveLength(3);
  });

  test('is retried after a failure', async () => {
    const query = newQuery();
    draw = async () => {
      throw new ApiError('overloaded', 'too many', { retryAfterS: 2 });
    };
    const refused = await get(query);
    expect(refused).toMatchObject({ statusCode: 503 });
    expect(refused.headers['retry-after']).toBe('2');
    expect(refused.json().meta).toMatchObject({ type: 'overloaded' });
    draw = async () => mapOf('now');
    expect((await get(query)).body).toBe('now');
  });
});

describe('regression: a client that leaves', () => {
  test.each([`/maps/static?${newQuery()}`, '/maps/tiles/basemap/0/0/0', '/maps/styles/svc-default-v1?language=en'])(
    'ends what it alone waits for: %s',
    async (path) => {
      const asked = new Promise<AbortSignal>((resolve) => {
        endless = (signal) => {
          resolve(signal);
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          });
        };
      });
      draw = (_request, signal) => endless(signal);
      const { port } = api.app.server.address() as AddressInfo;
      const client = connect(port, '127.0.0.1');
      client.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${publishable}\r\n\r\n`);
      const signal = await asked;
      expect(signal.aborted).toBe(false);
      client.destroy();
      await until(() => signal.aborted);
    },
  );
});

test('markers and paths keep their order', async () => {
  await get('width=600&height=400&markers=1,2&markers=color:red%7C3,4&markers=5,6');
  expect(drawn[0]?.markers.map(({ locations }) => locations[0])).toEqual([
    [2, 1],
    [4, 3],
    [6, 5],
  ]);
});

test.each([
  ['style=mine', 'style'],
  ['style=constructor', 'style'],
  ['markers=icon:pin-7%7C1,2', 'markers'],
  ['markers=icon:ftp://a.example/x.png%7C1,2', 'markers'],
  [Array.from({ length: 21 }, (_, i) => `markers=icon:https://a.example/${i}%7C1,2`).join('&'), 'markers'],
])('a missing reference is refused: %s', async (more, param) => {
  const answer = await get(`${newQuery()}&${more}`);
  expect(answer.statusCode).toBe(400);
  expect(answer.json().meta).toMatchObject({ type: 'invalid_parameter', param });
  expect(drawn).toEqual([]);
});

describe('geofences', () => {
  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ];
  const put = (pair: string, fields: object, key = api.secret) =>
    api.call('PUT', `/v1/geofences/${pair}`, { key, body: { description: 'x', ...fields } });
  const circle = { type: 'circle', coordinates: [11, 43], radius: 100 };
  const size = 'width=600&height=400';
  const asOwner = { authorization: '' };

  beforeAll(async () => {
    asOwner.authorization = api.secret;
    await put('shop/circle', circle);
    await put('shop/polygon', { type: 'polygon', coordinates: ring });
    await put('shop/off', { ...circle, enabled: false });
    await put('shop/past', { ...circle, disableAfter: '2020-01-01' });
    await put('closed/off', { ...circle, enabled: false });
    await put('live/circle', circle, api.project.key('live', 'secret'));
  });

  test('of a tag are drawn if enabled, for their owner only', async () => {
    const answer = await get(`${size}&geofences=shop`, asOwner);
    expect(answer.statusCode).toBe(200);
    expect(drawn[0]?.fences).toHaveLength(2);
    expect(drawn[0]?.fences).toEqual(
      expect.arrayContaining([
        { type: 'circle', center: [11, 43], radiusM: 100 },
        { type: 'polygon', ring },
      ]),
    );
    expect(answer.headers['cache-control']).toBe('private, no-cache');
    const revalidated = await get(`${size}&geofences=shop`, {
      ...asOwner,
      'if-none-match': answer.headers.etag as string,
    });
    expect(revalidated).toMatchObject({ statusCode: 304 });
  });

  test('produce another image after a change', async () => {
    await put('moving/circle', circle);
    await get(`${size}&geofences=moving`, asOwner);
    await put('moving/circle', { ...circle, radius: 200 });
    await get(`${size}&geofences=moving`, asOwner);
    expect(drawn.map(({ fences }) => fences)).toEqual([
      [{ type: 'circle', center: [11, 43], radiusM: 100 }],
      [{ type: 'circle', center: [11, 43], radiusM: 200 }],
    ]);
  });

  // Past shops of a chain made the map of its open ones impossible.
  test('regression: of a tag are drawn beside a thousand that are disabled', async () => {
    const scope = { project: api.project.record._id, environment: 'test' } as const;
    const { body } = await put('many/open', { ...circle, radius: 300 });
    const open = api.readModel.geofence(scope, body.geofence._id)!;
    const records = Array.from({ length: 1_000 }, (_, index) => {
      const pair = { tag: 'many', externalId: `${index}` };
      return { ...open, ...pair, _id: geofenceId(scope, pair), enabled: false, createdAt: open.createdAt + 1 + index };
    });
    await api.writer.write(records.map((record) => ({ kind: 'geofence' as const, id: record._id, record })));
    const answer = await get(`${size}&geofences=many`, asOwner);
    expect(answer.statusCode).toBe(200);
    expect(drawn.map(({ fences }) => fences)).toEqual([[{ type: 'circle', center: [11, 43], radiusM: 300 }]]);
  });

  test('of which there are too many enabled ones are refused', async () => {
    const scope = { project: api.project.record._id, environment: 'test' } as const;
    const { body } = await put('crowd/first', circle);
    const first = api.readModel.geofence(scope, body.geofence._id)!;
    const records = Array.from({ length: 1_000 }, (_, index) => {
      const pair = { tag: 'crowd', externalId: `${index}` };
      return { ...first, ...pair, _id: geofenceId(scope, pair) };
    });
    await api.writer.write(records.map((record) => ({ kind: 'geofence' as const, id: record._id, record })));
    const answer = await get(`${size}&geofences=crowd`, asOwner);
    expect(answer.json().meta).toMatchObject({ code: 400, message: expect.stringContaining('at most 1000 enabled') });
  });

  test('need a secret key', async () => {
    const answer = await get(`${size}&geofences=shop`);
    expect(answer.statusCode).toBe(403);
    expect(answer.json().meta).toMatchObject({ type: 'forbidden', param: 'geofences' });
  });

  test.each(['nothing', 'closed', 'live'])('of which there is none enabled here are refused: %s', async (tag) => {
    const answer = await get(`${size}&geofences=${tag}`, asOwner);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().meta).toMatchObject({ param: 'geofences' });
  });
});

test('a key beyond its cost limit gets Retry-After, but still gets cached images', async () => {
  const render = async () => ({ ...mapOf('x'), processorMs: 5_000 });
  const limited = await startApi({
    maps: mapParts({ render, maxCacheBytes: 10_000, costPerKeyPerSecond: 100 }),
    clock: () => 1_000_000,
  });
  const ask = (query: string, kind: 'publishable' | 'secret' = 'publishable') =>
    limited.app.inject({
      url: `/maps/static?width=600&height=400&zoom=3&${query}`,
      headers: { authorization: limited.project.key('test', kind) },
    });
  expect((await ask('center=1,1')).statusCode).toBe(200);
  const refused = await ask('center=1,2');
  expect(refused.statusCode).toBe(429);
  expect(refused.json().meta.type).toBe('rate_limited');
  // The bucket had 30 s at 100 ms, of which 5,000 ms were taken.
  expect(Number(refused.headers['retry-after'])).toBe(20);
  expect((await ask('center=1,1')).statusCode).toBe(200);
  expect((await ask('center=1,2', 'secret')).statusCode).toBe(200);
  await limited.close();
});

// Clients that retried, or scrolled over maps, were refused with 429 though nothing was drawn for them.
describe('regression: work that never begins costs its key nothing', () => {
  const paths = ['/maps/static?width=600&height=400&zoom=3&center=1,1', '/maps/tiles/basemap/0/0/0'];
  let fail: (signal: AbortSignal) => Promise<never>;
  let limited: TestApi;
  beforeEach(async () => {
    const work = (signal?: AbortSignal) => fail(signal!);
    limited = await startApi({
      maps: mapParts({
        render: (_project, _request, _uploads, signal) => work(signal),
        webFile: (_project, _file, signal) => work(signal),
        // One map or tile takes all that a key has.
        costPerKeyPerSecond: 0.1,
      }),
      clock: () => 1_000_000,
    });
  });
  afterEach(() => limited.close());
  const ask = async (url: string): Promise<string> => {
    const headers = { authorization: limited.project.key('test', 'publishable') };
    return (await limited.app.inject({ url, headers })).json().meta.type;
  };
  const overload = async (): Promise<never> => {
    throw new ApiError('overloaded', 'too many', { retryAfterS: 2 });
  };

  test.each(paths)('because too much is in progress: %s', async (path) => {
    fail = overload;
    expect([await ask(path), await ask(path)]).toEqual(['overloaded', 'overloaded']);
    fail = async () => {
      throw new ApiError('unavailable', 'it took too long');
    };
    expect([await ask(path), await ask(path)]).toEqual(['unavailable', 'rate_limited']);
  });

  test.each(paths)('because the client has left: %s', async (path) => {
    await limited.app.listen({ port: 0, host: '127.0.0.1' });
    const asked = new Promise<AbortSignal>((resolve) => {
      fail = (signal) => {
        resolve(signal);
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      };
    });
    const client = connect((limited.app.server.address() as AddressInfo).port, '127.0.0.1');
    const key = limited.project.key('test', 'publishable');
    client.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${key}\r\n\r\n`);
    const signal = await asked;
    client.destroy();
    await until(() => signal.aborted);
    fail = overload;
    expect(await ask(path)).toBe('overloaded');
  });
});

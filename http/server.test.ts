import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import pino from 'pino';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationReader } from '../pipeline/catalog/types.js';
import { ApiError } from '../schemas/errors.js';
import type { Environment } from '../schemas/json/common.js';
import { defaultSettings, type KeyKind, type KeyRecord, type ProjectRecord } from '../schemas/json/project.js';
import { callerOf } from './access/authority.js';
import { createKeyRing, newKey } from './access/keys.js';
import type { RequestObservation } from './answers/access-log.js';
import { logRedaction } from './answers/log-redaction.js';
import { accepted, FieldReader, type RawFields } from './fields/reader.js';
import { createTestServer } from './testing/server.js';

const keys: KeyRecord[] = [];
let version = 0;

function addKey(environment: Environment, kind: KeyKind): string {
  const { key, record } = newKey(environment, kind, 0);
  keys.push(record);
  version += 1;
  return key;
}

const project: ProjectRecord = {
  _id: 'a'.repeat(24),
  name: 'Shops',
  createdAt: 0,
  updatedAt: 0,
  keys,
  settings: { test: defaultSettings, live: defaultSettings },
};
const configuration = {
  get projectsVersion() {
    return version;
  },
  projects: () => [{ ...project, keys: [...keys] }],
} as unknown as ConfigurationReader;

const publishable = addKey('test', 'publishable');
const secret = addKey('live', 'secret');
const admin = newKey('live', 'secret', 0);

const routes: FastifyPluginAsync = async (app) => {
  app.get('/v1/open', { config: { authority: 'none' } }, async () => ({ meta: { code: 200 } }));
  app.get('/v1/mine', { config: { authority: 'publishable' } }, async (request) => ({ caller: callerOf(request) }));
  app.get('/v1/secret', { config: { authority: 'secret', limit: 'query' } }, async () => ({}));
  app.get('/v1/projects', { config: { authority: 'admin' } }, async () => ({}));
  app.get('/v1/topics', { config: { authority: 'secret or admin' } }, async ({ caller }) => ({ caller }));
  app.get('/v1/map', { config: { authority: 'publishable', keyInQuery: true } }, async (_, reply) => {
    reply.header('Cache-Control', 'public, max-age=60');
    return {};
  });
  app.get('/v1/broken', { config: { authority: 'none' } }, async () => {
    throw new Error('password=hunter2');
  });
  app.get('/v1/busy', { config: { authority: 'none' } }, async () => {
    throw new ApiError('overloaded', 'too much in flight', { retryAfterS: 3 });
  });
  app.post('/v1/track', { config: { authority: 'publishable', limit: 'track' } }, async () => ({}));
  app.post(
    '/v1/things/:tag/:externalId',
    {
      config: { authority: 'none' },
      schema: {
        params: Type.Object({ tag: Type.String(), externalId: Type.String() }),
        querystring: Type.Object({
          limit: Type.Optional(Type.Integer({ minimum: 1 })),
          metadata: Type.Optional(Type.Unknown()),
        }),
        body: Type.Object({
          radius: Type.Optional(Type.Number({ minimum: 10 })),
          metadata: Type.Optional(Type.Unknown()),
        }),
      },
    },
    async (request) => {
      const reader = new FieldReader((request.body ?? {}) as RawFields);
      reader.number('radius', { minimum: 10, unit: 'metres' });
      accepted(reader.outcome(() => null));
      return { params: request.params, query: request.query, body: request.body };
    },
  );
};

let app: FastifyInstance;
let now = 1_000_000;
const log: string[] = [];
const observed: RequestObservation[] = [];

beforeEach(async () => {
  log.length = 0;
  app = createTestServer({
    logger: pino({ level: 'debug', redact: logRedaction }, { write: (line) => log.push(line) }),
    keyRing: createKeyRing(configuration),
    adminApiKeySha256: admin.record.sha256,
    rateLimits: { queryPerKeyPerSecond: 3 },
    openApi: { title: 'Fenceline', version: '1.2.3' },
    clock: () => now,
    observe: (observation) => observed.push(observation),
  });
  await app.register(routes);
});
afterEach(() => app.close());

const get = (url: string, key?: string) =>
  app.inject({ url, headers: key === undefined ? {} : { authorization: key } });

describe('authority', () => {
  it.each([
    ['/v1/open', undefined, 200],
    ['/v1/mine', undefined, 401],
    ['/v1/mine', 'prj_test_pk_wrong', 401],
    ['/v1/mine', publishable, 200],
    ['/v1/mine', `Bearer ${publishable}`, 200],
    ['/v1/mine', secret, 200],
    ['/v1/mine', admin.key, 403],
    ['/v1/secret', publishable, 403],
    ['/v1/secret', secret, 200],
    ['/v1/projects', secret, 403],
    ['/v1/projects', 'wrong', 401],
    ['/v1/projects', admin.key, 200],
    ['/v1/topics', undefined, 401],
    ['/v1/topics', 'wrong', 401],
    ['/v1/topics', publishable, 403],
    ['/v1/topics', secret, 200],
    ['/v1/topics', admin.key, 200],
    [`/v1/mine?publishableKey=${publishable}`, undefined, 401],
    [`/v1/map?publishableKey=${publishable}`, undefined, 200],
    ['/v1/map?publishableKey[]=1', undefined, 401],
    [`/v1/map?publishableKey=${secret}`, undefined, 403],
    [`/v1/map?publishableKey=${secret}`, publishable, 403],
    ['/v1/map?publishableKey=prj_live_sk_revoked', undefined, 403],
    ['/v1/map?publishableKey=fenceline_admin_replaced', publishable, 403],
    [`/v1/map?publishableKey=${admin.key}`, undefined, 403],
    [`/v1/map?publishableKey=${publishable}&publishableKey=${secret}`, undefined, 403],
    ['/v1/map', secret, 200],
  ])('%s with %s: %i', async (url, key, status) => {
    const answer = await get(url, key);
    expect(answer.statusCode).toBe(status);
    if (status >= 400)
      expect(answer.json().meta).toMatchObject({ code: status, type: status === 401 ? 'unauthorized' : 'forbidden' });
  });

  it('names the parameter as well as the header where a key may be in the URL', async () => {
    const { meta } = (await get('/v1/map')).json();
    expect(meta).toMatchObject({ param: 'publishableKey', message: expect.stringContaining('Authorization') });
    expect((await get('/v1/mine')).json().meta).not.toHaveProperty('param');
  });

  it('gives routes the caller of a request', async () => {
    const { caller } = (await get('/v1/mine', secret)).json();
    expect(caller).toMatchObject({ project: project._id, environment: 'live', kind: 'secret' });
    expect(secret).not.toContain(caller.keyHint);
  });

  it('accepts a key exactly while the configuration contains it', async () => {
    const key = addKey('test', 'publishable');
    expect((await get('/v1/mine', key)).statusCode).toBe(200);
    keys.pop();
    version += 1;
    expect((await get('/v1/mine', key)).statusCode).toBe(401);
  });

  it('explains why a URL must not contain a secret key (fault: map URLs accepted secret keys)', async () => {
    const { meta } = (await get(`/v1/map?publishableKey=${secret}`)).json();
    expect(meta).toMatchObject({ code: 403, type: 'forbidden', param: 'publishableKey' });
    expect(meta.message).toMatch(/must be a publishable key; logs, caches .* Authorization header/);
    expect(meta.message).not.toContain(secret);
  });

  it('refuses a route that declares none', async () => {
    const other = createTestServer();
    expect(() => other.get('/v1/forgotten', async () => ({}))).toThrow('declares no authority');
    await other.close();
  });
});

describe('failures', () => {
  const post = (url: string, payload: string, type = 'application/json') =>
    app.inject({ method: 'POST', url, payload, headers: { 'content-type': type } });

  it.each([
    ['/v1/nothing', 404, 'not_found'],
    ['/v1/things/a', 404, 'not_found'],
    ['/v1/things/a/b', 405, 'method_not_allowed'],
    ['/v1/%zz', 400, 'invalid_parameter'],
    ['/v1/busy', 503, 'overloaded'],
  ])('GET %s: %i %s', async (url, status, type) => {
    const answer = await get(url);
    expect(answer.statusCode).toBe(status);
    expect(answer.json().meta).toMatchObject({ code: status, type });
  });

  it.each([
    ['{"radius":', 'application/json', 400, 'invalid_body'],
    ['{"radius":9}', 'application/json', 400, 'invalid_parameter'],
    ['radius=9', 'application/x-www-form-urlencoded', 400, 'invalid_parameter'],
    // The refused field was the text of the body, or the first required one.
    [' {\n"radius":20}', 'application/x-www-form-urlencoded', 400, 'invalid_body'],
    ['[{"radius":20}]', 'application/x-www-form-urlencoded', 400, 'invalid_body'],
    ['<radius/>', 'application/xml', 415, 'unsupported_media_type'],
    ['radius', 'text/plain', 415, 'unsupported_media_type'],
    [`"${'x'.repeat(2_000_000)}"`, 'application/json', 413, 'body_too_large'],
  ])('POST %.12s as %s: %i %s', async (payload, contentType, status, type) => {
    const answer = await post('/v1/things/a/b', payload, contentType);
    expect(answer.statusCode).toBe(status);
    expect(answer.json().meta).toMatchObject({ code: status, type });
  });

  // A wrong path or method was answered with what was wrong in the body, so its caller mended the body.
  it.each([
    ['broken', '{broken', 'application/json'],
    ['of another type', '<radius/>', 'application/xml'],
    ['too large', `"${'x'.repeat(2_000_000)}"`, 'application/json'],
  ])('a path or method that does not exist is refused also if the body is %s', async (_, payload, contentType) => {
    expect((await post('/v1/nothing', payload, contentType)).json().meta.type).toBe('not_found');
    const wrongMethod = await app.inject({
      method: 'PATCH',
      url: '/v1/things/a/b',
      payload,
      headers: { 'content-type': contentType },
    });
    expect(wrongMethod.json().meta.type).toBe('method_not_allowed');
    expect(wrongMethod.headers.allow).toContain('POST');
  });

  it('the refusal of JSON in place of a form names the Content-Type that it needs', async () => {
    const answer = await post('/v1/things/a/b', '{"radius":20}', 'application/x-www-form-urlencoded');
    expect(answer.json().meta.message).toMatch(/: send Content-Type: application\/json$/);
  });

  it('a compressed body was called broken UTF-8', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/things/a/b',
      payload: gzipSync('{"radius":20}'),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect(answer.statusCode).toBe(415);
    expect(answer.json().meta.message).toMatch(/^Content-Encoding must be absent/);
  });

  it('let the sender of a body that is too large read the answer', async () => {
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const headers = { 'content-type': 'application/json' };
    for (let attempt = 0; attempt < 5; attempt++) {
      const answer = await fetch(`${address}/v1/things/a/b`, {
        method: 'POST',
        headers,
        body: `"${'x'.repeat(10_000_000)}"`,
      });
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ meta: { type: 'body_too_large' } });
    }
  });

  it('names the field and the rule', async () => {
    const meta = {
      code: 400,
      type: 'invalid_parameter',
      param: 'radius',
      message: 'radius: must be a number of at least 10 metres',
    };
    expect((await post('/v1/things/a/b', '{"radius":9}')).json()).toEqual({
      meta: { ...meta, requestId: expect.any(String) },
    });
  });

  it('names the request, as its header and the log do', async () => {
    for (const url of ['/v1/busy', '/v1/broken', '/v1/nothing', '/v1/mine', '/%ff']) {
      const answer = await get(url);
      const { requestId } = answer.json().meta;
      expect(requestId).toMatch(/^[0-9a-f]{24}$/);
      expect(answer.headers['x-radar-request-id']).toBe(requestId);
      // This path reaches no route and is not logged.
      if (url !== '/%ff') expect(log.join()).toContain(`"reqId":"${requestId}"`);
    }
  });

  it("takes the caller's X-Request-Id if it is well-formed", async () => {
    const idFor = async (given: string): Promise<string> => {
      const answer = await app.inject({ url: '/v1/nothing', headers: { 'x-request-id': given } });
      expect(answer.headers['x-radar-request-id']).toBe(answer.json().meta.requestId);
      return answer.json().meta.requestId;
    };
    for (const given of ['0af76519-16cd.43dd:84_48', '12345678', 'x'.repeat(64)])
      expect(await idFor(given)).toBe(given);
    for (const given of ['', '1234567', 'x'.repeat(65), 'a b c d e f', '"quotes"s']) {
      expect(await idFor(given)).toMatch(/^[0-9a-f]{24}$/);
    }
  });

  it('says when to retry', async () => {
    expect((await get('/v1/busy')).headers['retry-after']).toBe('3');
  });

  it('hides an unexpected error behind the request id that the log has', async () => {
    const answer = await get('/v1/broken');
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('hunter2');
    const id = answer.headers['x-radar-request-id'] as string;
    expect(answer.json().meta.message).toContain(id);
    expect(log.find((line) => line.includes(id) && line.includes('hunter2'))).toBeDefined();
  });
});

describe('requests', () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };

  it('are read as JSON or as a form, with nested keys, under both prefixes', async () => {
    const json = await app.inject({
      method: 'POST',
      url: '/api/v1/things/a/b%2Fc?limit=3&metadata[k]=v',
      payload: { radius: 12 },
    });
    expect(json.json()).toEqual({
      params: { tag: 'a', externalId: 'b/c' },
      query: { limit: '3', metadata: { k: 'v' } },
      body: { radius: 12 },
    });
    const form = await app.inject({
      method: 'POST',
      url: '/v1/things/a/b',
      headers,
      payload: 'radius=12&metadata[k]=v&x=y',
    });
    expect(form.json().body).toEqual({ radius: '12', metadata: { k: 'v' }, x: 'y' });
  });

  // Calls of an app whose host ends with a slash were answered 404.
  it('may begin with several slashes, below the prefixes that SDKs call only', async () => {
    app.get('/maps/open', { config: { authority: 'none' } }, async () => ({}));
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    const statusOf = async (path: string) => (await fetch(`${address}${path}`, { method: 'POST' })).status;
    for (const path of ['//v1/things/a/b', '///v1/things/a/b', '//api/v1/things/a/b'])
      expect([path, await statusOf(path)]).toEqual([path, 200]);
    for (const path of ['/v1//things/a/b', '/api//v1/things/a/b', '/x//v1/things/a/b'])
      expect([path, await statusOf(path)]).toEqual([path, 404]);
    const statusesOf = (paths: string[]) =>
      Promise.all(paths.map(async (path) => (await fetch(`${address}${path}`)).status));
    expect(await statusesOf(['//maps/open', '/openapi.json'])).toEqual([200, 200]);
    expect(await statusesOf(['//openapi.json', '/api/maps/open', '//api/maps/open'])).toEqual([404, 404, 404]);
  });

  it('reached /metrics as /%6detrics and as *metrics, which the rules of a proxy in front do not know', async () => {
    app.get('/metrics', { config: { authority: 'none' } }, async () => ({}));
    app.get('/v1/things/:id', { config: { authority: 'none' } }, async ({ params }) => params as object);
    expect((await app.inject('/metrics')).statusCode).toBe(200);
    for (const url of ['/%6detrics', '/metric%73', '/%76%31/open', '/api/v1/%6Fpen', '/v1/thing%73/a']) {
      expect((await app.inject(url)).json(), url).toMatchObject({ meta: { code: 404, type: 'not_found' } });
    }
    for (const [url, id] of [
      ['/v1/things/%61%2Fb', 'a/b'],
      ['/api/v1/things/%E2%82%AC', '€'],
    ] as const)
      expect((await app.inject(url)).json(), url).toEqual({ id });
    const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
    const statusOf = (path: string) =>
      new Promise((resolve, reject) => {
        const sent = httpRequest({ host: '127.0.0.1', port, path }, (answer) => resolve(answer.resume().statusCode));
        sent.on('error', reject).end();
      });
    expect(await statusOf('*metrics')).toBe(404);
    expect(await statusOf('http://127.0.0.1/metrics?')).toBe(200);
    expect(await statusOf('HTTP://127.0.0.1/v1/things/a%20b')).toBe(200);
  });

  it('may be empty with a Content-Type of JSON', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/things/a/b',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.statusCode).toBe(200);
  });

  it('carry no prototypes in', async () => {
    const sent = (type: string, payload: string) =>
      app.inject({ method: 'POST', url: '/v1/things/a/b', headers: { 'content-type': type }, payload });
    const json = [
      '{"__proto__":{"radius":1}}',
      '{"metadata":{"__proto__":5}}',
      '{"metadata":{"\\u005f_proto__":5}}',
      '{"constructor":{"prototype":{"radius":1}}}',
    ];
    for (const payload of json) {
      const answer = await sent('application/json', payload);
      const message = 'the body must not contain the name __proto__, or prototype in constructor';
      expect(answer.json().meta, payload).toMatchObject({ code: 400, type: 'invalid_body', message });
    }
    const kept = '{"metadata":{"proto":"__proto__","constructor":"x"}}';
    expect((await sent('application/json', kept)).json().body).toEqual(JSON.parse(kept));
    for (const payload of [
      '__proto__=1',
      'a=1&%5F_proto__[b]=1',
      'metadata[__proto__]=5',
      'metadata[a][__proto__]=5',
    ]) {
      const answer = await sent('application/x-www-form-urlencoded', payload);
      expect(answer.json().meta, payload).toMatchObject({ code: 400, type: 'invalid_parameter' });
    }
    const text = await sent('application/x-www-form-urlencoded', 'a=__proto__&b__proto__=1');
    expect(text.json().body).toEqual({ a: '__proto__', b__proto__: '1' });
  });

  it('a parameter that the parser left out was not refused as unknown, and the whole list was answered', async () => {
    for (const query of ['__proto__[a]=b', '__proto__=b', '%5f%5fproto%5f%5f=b']) {
      const { meta } = (await get(`/v1/map?${query}`, secret)).json();
      expect(meta, query).toMatchObject({ code: 400, type: 'invalid_parameter', param: '__proto__' });
    }
  });

  it('are observed by route, and logged without keys', async () => {
    observed.length = 0;
    await get(`/v1/map?publishableKey=${publishable}`);
    await get('/v1/nothing', secret);
    expect(observed.map(({ route, status }) => [route, status])).toEqual([
      ['/v1/map', 200],
      ['unknown', 404],
    ]);
    expect(log.join('')).not.toContain(publishable);
    expect(log.join('')).not.toContain(secret);
  });
});

describe('cross-origin calls', () => {
  it.each(['/v1/track', '/v1/nothing', '/api/v1/mine'])('OPTIONS %s', async (url) => {
    const answer = await app.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin: 'https://shop.example',
        'access-control-request-headers': 'authorization, x-app-version, bad"header',
      },
    });
    expect(answer.statusCode).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-allow-methods']).toContain('PATCH');
    expect(answer.headers['access-control-allow-headers']).toMatch(
      /^Authorization, Content-Type, .*X-Radar-SDK-Version.*, x-app-version$/,
    );
    expect(Number(answer.headers['access-control-max-age'])).toBeGreaterThan(0);
  });

  it('can read refusals and the request id', async () => {
    const answer = await get('/v1/mine', 'wrong');
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-expose-headers']).toContain('X-Radar-Request-Id');
    expect(answer.headers['x-radar-request-id']).toMatch(/^[0-9a-f]{24}$/);
  });
});

describe('pages of other origins', () => {
  const origin = 'https://shop.example';

  it.each([
    '/v1/open',
    '/v1/secret',
    '/v1/projects',
    '/v1/topics',
    '/openapi.json',
    '/docs/',
    '/docs/static/swagger-ui.css',
  ])('may not read %s (fault: /metrics and /health allowed every origin)', async (url) => {
    for (const key of [undefined, secret, admin.key]) {
      const answer = await app.inject({ url, headers: { origin, ...(key !== undefined && { authorization: key }) } });
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    }
    const asked = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' };
    const preflight = await app.inject({ method: 'OPTIONS', url, headers: asked });
    expect(preflight.statusCode).toBe(405);
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('may read that a path is unknown', async () => {
    const answer = await app.inject({ url: '/v1/search/places', headers: { origin } });
    expect(answer.statusCode).toBe(404);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });
});

describe('headers of answers', () => {
  it.each(['/v1/open', '/v1/mine', '/v1/nothing', '/v1/broken', '/v1/%zz', '/openapi.json', '/docs/'])(
    '%s forbids to guess its type',
    async (url) => {
      expect((await get(url, secret)).headers['x-content-type-options']).toBe('nosniff');
    },
  );

  it.each([
    ['/v1/mine', 'wrong'],
    ['/v1/mine', publishable],
    ['/v1/secret', publishable],
    ['/v1/secret', secret],
    ['/v1/projects', admin.key],
    ['/v1/nothing', secret],
    ['/v1/%zz', secret],
  ])('%s is stored by no cache (fault: authenticated answers were cacheable)', async (url, key) => {
    expect((await get(url, key)).headers['cache-control']).toBe('no-store');
  });

  it('let a route allow caching', async () => {
    const answer = await get('/v1/map', publishable);
    expect(answer.headers['cache-control']).toBe('public, max-age=60');
    expect((await get('/v1/map', 'wrong')).headers['cache-control']).toBe('no-store');
  });

  it.each(['/docs/', '/docs/static/swagger-ui-bundle.js'])(
    'keep %s out of frames (fault: /docs had no policy)',
    async (url) => {
      const { headers, statusCode } = await get(url);
      expect(statusCode).toBe(200);
      expect(headers['x-frame-options']).toBe('DENY');
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/script-src[^;]*(unsafe|https?:|\*)/);
    },
  );
});

describe('an answer to HEAD', () => {
  // Incident: HEAD of an export read all records after its answer, and each logged the error "the client has left".
  it('leaves the stream unread that GET would send', async () => {
    const read: number[] = [];
    const streams: Readable[] = [];
    const rows = function* () {
      for (let row = 0; row < 3; row++) yield `${read.push(row)}\n`;
      throw new Error('the client has left');
    };
    app.get('/v1/rows', { config: { authority: 'none' } }, async (_, reply) => {
      streams.push(Readable.from(rows(), { objectMode: false }));
      return reply.type('text/csv').send(streams.at(-1));
    });
    const { statusCode, headers, payload } = await app.inject({ method: 'HEAD', url: '/v1/rows' });
    await finished(streams[0]!).catch(() => {});
    expect([statusCode, headers['content-type'], headers['content-length'], payload]).toEqual([
      ...[200, 'text/csv', undefined, ''],
    ]);
    expect([read, streams[0]!.destroyed]).toEqual([[], true]);
    expect(log.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});

describe('rate limits', () => {
  it('count calls per key, and report the rest of the limit', async () => {
    now += 10_000;
    const first = await get('/v1/secret', secret);
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
    expect(Number(first.headers['x-ratelimit-reset'])).toBe(Math.ceil((now + 1_000 / 3) / 1_000));
    await get('/v1/secret', secret);
    await get('/v1/secret', secret);
    const refused = await get('/v1/secret', secret);
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.json().meta).toMatchObject({
      type: 'rate_limited',
      message: 'more than 3 requests a second with this key',
    });
  });

  it('count calls that are refused for their fields', async () => {
    now += 10_000;
    const statuses = [];
    for (let call = 0; call < 4; call++) statuses.push((await get('/v1/secret?unheardOf=1', secret)).statusCode);
    expect(statuses).toEqual([400, 400, 400, 429]);
  });
});

it('describes itself to machines and to people', async () => {
  const description = (await get('/openapi.json')).json();
  expect(description).toMatchObject({ openapi: '3.1.0', info: { title: 'Fenceline', version: '1.2.3' } });
  expect(description.paths['/v1/things/{tag}/{externalId}'].post.requestBody.content).toHaveProperty(
    'application/json',
  );
  expect(description.paths['/v1/things/{tag}/{externalId}'].post.operationId).toBe('postThingsByTagByExternalId');
  expect(description.paths['/v1/secret'].get.security).toEqual([{ key: [] }, { session: [] }]);
  expect(description.paths['/v1/open'].get.security).toEqual([]);
  expect(description.paths).not.toHaveProperty('/openapi.json');
  const page = await get('/docs/');
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-type']).toContain('text/html');
});

it.each(['/openapi.json', '/docs/json'])(
  'sends %s compressed, and only when it changed (fault: each request without a key took the thread for 25 ms)',
  async (url) => {
    const plain = await get(url);
    expect(plain.headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': 'application/json; charset=utf-8',
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
      vary: 'Accept-Encoding',
    });
    const packed = await app.inject({ url, headers: { 'accept-encoding': 'br, gzip' } });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
    const again = await app.inject({ url, headers: { 'if-none-match': String(plain.headers.etag) } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  },
);

it.each(['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js', 'swagger-ui.css'])(
  'sends %s of the page compressed (fault: the page took 2.1 MB instead of 0.6)',
  async (name) => {
    const url = `/docs/static/${name}`;
    const plain = await get(url);
    expect(plain.headers).toMatchObject({ vary: 'Accept-Encoding', etag: expect.stringMatching(/^W\//) });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    for (const attempt of ['first', 'again']) {
      const packed = await app.inject({ url, headers: { 'accept-encoding': 'br, gzip' } });
      expect(packed.headers, attempt).toMatchObject({
        'content-encoding': 'gzip',
        'content-length': `${packed.rawPayload.length}`,
        'content-type': plain.headers['content-type'],
        etag: plain.headers.etag,
      });
      expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
      expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true);
    }
    const known = await app.inject({
      url,
      headers: { 'accept-encoding': 'gzip', 'if-none-match': String(plain.headers.etag) },
    });
    expect([known.statusCode, known.body]).toEqual([304, '']);
    const part = await app.inject({ url, headers: { 'accept-encoding': 'gzip', range: 'bytes=0-9' } });
    expect([part.statusCode, part.rawPayload.equals(plain.rawPayload.subarray(0, 10))]).toEqual([206, true]);
  },
);

it('sends readers of YAML to the same document (fault: it was written in two seconds)', async () => {
  const { statusCode, headers } = await get('/docs/yaml');
  expect([statusCode, new URL(String(headers.location), 'http://localhost/docs/yaml').pathname]).toEqual([
    302,
    '/openapi.json',
  ]);
});

// With a port, the client had no address for geofences, and limits of attempts counted each of its connections apart.
it.each([
  ['203.0.113.7:51234', '203.0.113.7'],
  ['[2001:db8::7]:51234', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8::7', '2001:db8::7'],
  ['198.51.100.1, 203.0.113.7:51234, 10.0.0.2:443', '203.0.113.7'],
])('regression: the client that a trusted proxy names as %s has the address %s', async (forwarded, ip) => {
  const proxied = createTestServer({ trustProxy: ['127.0.0.1', '10.0.0.0/8'] });
  proxied.get('/v1/address', { config: { authority: 'none' } }, async (request) => ({ ip: request.ip }));
  const { statusCode, body } = await proxied.inject({ url: '/v1/address', headers: { 'X-Forwarded-For': forwarded } });
  await proxied.close();
  expect([statusCode, JSON.parse(body)]).toEqual([200, { ip }]);
});

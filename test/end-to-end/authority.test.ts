/** Keys, environments, projects and rate limits. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, type Json, ok, trackDefaults } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { TestServer } from '../support/server.js';

let server: TestServer;
const fence = { description: 'x', ...circle(0, 0, 100) };
const report = { deviceId: 'phone', ...trackDefaults, ...standing(0, 0) };
const { latitude, longitude } = standing(0, 0);
const near = `near=${latitude},${longitude}`;

beforeAll(async () => {
  server = await TestServer.startAlone({ FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '5' });
});
afterAll(() => server?.dispose());

const forSdks: [string, string, object?][] = [
  ['POST', '/v1/track', report],
  ['POST', '/v1/track/replay', { replays: [report] }],
  ['GET', '/v1/config'],
  ['GET', `/v1/context?coordinates=${latitude},${longitude}`],
  ['GET', `/v1/search/geofences?${near}`],
  ['GET', `/v1/search/beacons?${near}`],
  ['POST', '/v1/logs', { logs: [] }],
  ['POST', '/v1/events', { name: 'opened_app', deviceId: 'phone' }],
];
const forBackends: [string, string, object?][] = [
  ['GET', '/v1/geofences'],
  ['POST', '/v1/geofences', { ...fence, tag: 'a', externalId: 'b' }],
  ['PUT', '/v1/geofences/a/b', fence],
  ['GET', '/v1/geofences/a/b'],
  ['GET', '/v1/geofences/a/b/users'],
  ['DELETE', '/v1/geofences/a/b'],
  ['GET', '/v1/beacons'],
  ['GET', '/v1/users'],
  ['GET', '/v1/events'],
  ['GET', '/v1/settings'],
  ['PUT', '/v1/settings', {}],
  ['POST', '/v1/explain', report],
];

describe('a key', () => {
  it.each([...forSdks, ...forBackends])(
    '%s %s is 401 without a key and with a wrong one',
    async (method, path, body) => {
      const wrong = ['prj_test_sk_0000000000000000000000000000000000000000', 'nonsense', ''];
      for (const key of [undefined, ...wrong]) {
        const answer = await server.withKey(key).send(method, path, { body });
        expect(answer.status).toBe(401);
        expect(answer.body.meta).toMatchObject({ code: 401, type: 'unauthorized' });
      }
    },
  );

  it.each(forSdks)('%s %s accepts publishable and secret keys', async (method, path, body) => {
    for (const key of ['live_publishable', 'live_secret'] as const) {
      expect((await server.as(key).send(method, path, { body })).status).toBe(200);
    }
  });

  it.each(forBackends)('%s %s accepts only secret keys', async (method, path, body) => {
    const refused = await server.as('live_publishable').send(method, path, { body });
    expect({ status: refused.status, type: refused.body.meta.type }).toEqual({ status: 403, type: 'forbidden' });
    expect((await server.as('live_secret').send(method, path, { body })).status).toBe(200);
  });

  it('is not required for health, metrics and documentation', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics', '/openapi.json', '/docs']) {
      expect((await server.withKey(undefined).get(path)).status).toBe(200);
    }
  });
});

describe('environments', () => {
  it('have separate geofences, devices, settings and beacons', async () => {
    const [test, live] = [server.as('test_secret'), server.as('live_secret')];
    await test.putGeofence('apart', circle(0, 0, 100));
    expect((await live.get('/v1/geofences/test/apart')).status).toBe(404);
    const inTest = await test.track({ ...report, deviceId: 'both' });
    const inLive = await live.track({ ...report, deviceId: 'both' });
    expect(inTest.events).toHaveLength(1);
    expect(inLive.events).toHaveLength(0);
    expect(inTest.user._id).not.toBe(inLive.user._id);
    expect([inTest.user.live, inLive.user.live]).toEqual([false, true]);
    ok(await test.put('/v1/settings', { minimumConfidence: 2 }));
    expect(ok(await live.get('/v1/settings')).settings.minimumConfidence).toBe(1);
    ok(await test.put('/v1/settings', { minimumConfidence: 1 }));
  });
});

describe('projects', () => {
  it('are created with the admin API key only, and see nothing of each other', async () => {
    const administrator = await server.administrator();
    expect((await server.as('live_secret').post('/v1/projects', { name: 'mine' })).status).toBeGreaterThanOrEqual(401);
    const { project } = ok(await administrator.post('/v1/projects', { name: 'second' }));
    const keyOf = (environment: string, kind: string): string =>
      project.keys.find((key: Json) => key.environment === environment && key.kind === kind).key;
    const second: Client = server.withKey(keyOf('test', 'secret'));
    await server.as('test_secret').putGeofence('mine', circle(0, 0, 100));
    expect((await second.get('/v1/geofences/test/mine')).status).toBe(404);
    expect((await second.track(report)).events).toEqual([]);
    const listed = ok(await administrator.get('/v1/projects')).projects;
    expect(listed.map((listedProject: Json) => listedProject.name)).toContain('second');
    expect(JSON.stringify(listed)).not.toContain(keyOf('test', 'secret'));
  });

  it('get new keys, and the old key is refused immediately', async () => {
    const administrator = await server.administrator();
    const { project } = ok(await administrator.post('/v1/projects', { name: 'rotated' }));
    const old: string = project.keys.find((key: Json) => key.environment === 'test' && key.kind === 'secret').key;
    const answer = await administrator.post(`/v1/projects/${project._id}/keys/rotate`, {
      environment: 'test',
      kind: 'secret',
    });
    const fresh: string = ok(answer).key.key ?? ok(answer).key;
    expect(fresh).not.toBe(old);
    expect((await server.withKey(old).get('/v1/geofences')).status).toBe(401);
    expect((await server.withKey(fresh).get('/v1/geofences')).status).toBe(200);
  });
});

describe('rate limits', () => {
  /** More calls than ten seconds admit, so that a slow machine refuses some too. */
  const burst = 60;

  it('are reported in headers, and refusals name a time to retry', async () => {
    const device = server.as('test_publishable');
    const answers = await Promise.all(
      Array.from({ length: burst }, () => device.post('/v1/track', { ...report, deviceId: 'hurried' })),
    );
    const refused = answers.filter(({ status }) => status === 429);
    const admitted = answers.filter(({ status }) => status === 200);
    expect(admitted.length).toBeGreaterThanOrEqual(5);
    expect(refused.length).toBeGreaterThan(0);
    expect(admitted.length + refused.length).toBe(burst);
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe('5');
      expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThanOrEqual(0);
      expect(Number(headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000 - 60);
    }
    expect(refused[0]?.body.meta).toMatchObject({ code: 429, type: 'rate_limited' });
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await device.post('/v1/track', { ...report, deviceId: 'patient' })).status).toBe(200);
  });
});

describe('cross-origin calls', () => {
  it('are allowed from anywhere, with the headers that SDKs send', async () => {
    const answer = await server.withKey(undefined).send('OPTIONS', '/v1/track', {
      headers: {
        origin: 'https://shop.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers':
          'authorization,content-type,x-radar-device-type,x-radar-sdk-version,x-own-header',
      },
    });
    expect([200, 204]).toContain(answer.status);
    expect(['*', 'https://shop.example.com']).toContain(answer.headers.get('access-control-allow-origin'));
    const allowed = answer.headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
    for (const name of [
      'authorization',
      'content-type',
      'x-radar-device-type',
      'x-radar-sdk-version',
      'x-own-header',
    ]) {
      expect(allowed).toContain(name);
    }
    const refused = await server
      .withKey('wrong')
      .send('POST', '/v1/track', { headers: { origin: 'https://shop.example.com' } });
    expect(refused.headers.get('access-control-allow-origin')).toBeTruthy();
    expect(refused.headers.get('x-radar-request-id')).toBeTruthy();
  });

  it.each(['/metrics', '/health/live', '/health/ready', '/openapi.json', '/docs/', '/v1/projects'])(
    'are not allowed for %s (regression: /metrics and /health allowed every origin)',
    async (path) => {
      const origin = 'https://shop.example.com';
      const answer = await server.withKey(undefined).send('GET', path, { headers: { origin } });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      const headers = { origin, 'access-control-request-method': 'GET' };
      const preflight = await server.withKey(undefined).send('OPTIONS', path, { headers });
      expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
    },
  );
});

import { describe, expect, test } from 'vitest';
import { type Body, type TestProject, useApi } from '../../api/testing/fixtures.js';
import { networks } from '../../outbound/testing/clients.js';
import { createSecretCipher } from '../../pipeline/encryption.js';
import { credentialsOf } from './record.js';
import { syncRoutes } from './routes.js';
import { createSchedule } from './schedule.js';

const cipher = createSecretCipher(Buffer.alloc(32, 1));
const schedule = createSchedule('02:00', 'UTC');
const nowMs = Date.UTC(2026, 4, 17, 12);

const api = await useApi({
  clock: () => nowMs,
  addRoutes: (dependencies) => syncRoutes({ ...dependencies, cipher, schedule, allowedNetworks: networks() }),
});

const http = { protocol: 'http', urls: ['https://example.com/fences.csv'] };
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'very/secret+key' };
const s3 = { protocol: 's3', region: 'eu-central-1', bucket: 'fences', keys: ['a.csv'], ...credentials };

/** Creates a project, because each has one sync per environment. */
async function project() {
  const made: TestProject = await api.newProject('Sync');
  const key = made.key('test', 'secret');
  const scope = { project: made.record._id, environment: 'test' } as const;
  return {
    scope,
    get: () => api.call('GET', '/v1/sync', { key }),
    put: (body: object | string) => api.call('PUT', '/v1/sync', { key, body }),
    patch: (body: object, ifMatch?: string) =>
      api.call('PATCH', '/v1/sync', { key, body, ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }) }),
    run: () => api.call('POST', '/v1/sync/run', { key }),
    remove: () => api.call('DELETE', '/v1/sync', { key }),
    stored: () => api.readModel.sync(scope)!,
    live: () => api.call('GET', '/v1/sync', { key: made.key('live', 'secret') }),
  };
}

describe('a PATCH of a sync', () => {
  test('changes what it names, keeps the credentials, and honours If-Match', async () => {
    const one = await project();
    expect((await one.patch(http)).status).toBe(404);
    const { etag } = await one.put({ ...s3, notificationEmail: 'ops@example.com' });
    const patched = await one.patch({ bucket: 'others', notificationEmail: null }, etag as string);
    expect(patched).toMatchObject({
      status: 200,
      body: { sync: { protocol: 's3', bucket: 'others', keys: ['a.csv'], hasCredentials: true } },
    });
    expect(patched.body.sync.notificationEmail).toBeUndefined();
    expect(credentialsOf(one.stored(), cipher)).toEqual(credentials);
    expect((await one.patch({ bucket: 'late' }, etag as string)).status).toBe(412);
    expect((await one.patch({ bucket: 'x' })).body.meta.param).toBe('bucket');
    expect((await one.patch({ buckt: 'x' })).body.meta.param).toBe('buckt');
    expect((await one.get()).body.sync.bucket).toBe('others');
  });
});

describe('a sync', () => {
  test('belongs to one environment, and is due when it is saved', async () => {
    const one = await project();
    expect((await one.get()).status).toBe(404);
    const { status, body } = await one.put({ ...http, notificationEmail: 'Ops@Example.COM' });
    expect([status, body.sync]).toEqual([
      200,
      {
        live: false,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        enabled: true,
        notificationEmail: 'Ops@example.com',
        protocol: 'http',
        urls: http.urls,
        hasCredentials: false,
        status: 'due',
        nextRunAt: '2026-05-17T12:00:00.000Z',
      },
    ]);
    expect((await one.get()).body.sync).toEqual(body.sync);
    expect((await one.live()).status).toBe(404);
  });

  test('keeps fields that are left out; null puts one back to its default', async () => {
    const one = await project();
    await one.put({ ...http, notificationEmail: 'ops@example.com' });
    expect((await one.put({ enabled: false })).body.sync).toMatchObject({
      enabled: false,
      status: 'off',
      urls: http.urls,
    });
    const { body } = await one.put({ notificationEmail: null, enabled: null });
    expect(body.sync).toMatchObject({ enabled: true, urls: http.urls });
    expect(body.sync).not.toHaveProperty('notificationEmail');
  });

  test('reads forms by the same rules', async () => {
    const one = await project();
    const { body } = await one.put(
      'protocol=HTTP&enabled=TRUE&urls=https://example.com/a.csv,https://example.com/b.csv',
    );
    expect(body.sync).toMatchObject({
      urls: ['https://example.com/a.csv', 'https://example.com/b.csv'],
      enabled: true,
    });
  });

  test('is gone after it is deleted, with its credentials', async () => {
    const one = await project();
    await one.put(s3);
    expect((await one.remove()).status).toBe(200);
    expect((await one.get()).status).toBe(404);
    expect((await one.remove()).status).toBe(404);
    expect((await one.put({ ...s3, secretAccessKey: undefined })).body.meta).toMatchObject({
      param: 'secretAccessKey',
    });
  });

  test('runs on request, unless it is off', async () => {
    const one = await project();
    expect((await one.run()).status).toBe(404);
    await one.put(http);
    expect((await one.run()).body.sync.status).toBe('due');
    expect(one.stored().requested.reason).toBe('requested');
    await one.put({ enabled: false });
    expect((await one.run()).body.meta).toMatchObject({ code: 409, type: 'conflict' });
  });
});

describe('credentials', () => {
  const secrets = Object.values(credentials);
  const tells = (value: unknown) => secrets.some((secret) => JSON.stringify(value).includes(secret));

  test('are stored encrypted, and never returned', async () => {
    const one = await project();
    const answers: Body[] = [(await one.put(s3)).body, (await one.get()).body, (await one.run()).body];
    expect(answers.map(tells)).toEqual([false, false, false]);
    expect(tells(one.stored())).toBe(false);
    expect(answers[0].sync.hasCredentials).toBe(true);
    expect(credentialsOf(one.stored(), cipher)).toEqual(credentials);
  });

  test('stay when other fields change', async () => {
    const one = await project();
    await one.put(s3);
    await one.put({ keys: ['b.csv'], bucket: 'other' });
    expect(credentialsOf(one.stored(), cipher)).toEqual(credentials);
  });

  // Such a sync could not be switched off: the credentials that nobody can read were required.
  test('that cannot be decrypted stay when the sync is switched off, and are required to switch it on', async () => {
    const one = await project();
    await one.put(s3);
    const other = createSecretCipher(Buffer.alloc(32, 9));
    const record = { ...one.stored(), sealedCredentials: other.encrypt(JSON.stringify(credentials), one.stored()._id) };
    await api.writer.write([{ kind: 'sync', id: record._id, record }]);
    expect(await one.patch({ enabled: false })).toMatchObject({ status: 200, body: { sync: { enabled: false } } });
    expect(credentialsOf(one.stored(), other)).toEqual(credentials);
    expect(await one.patch({ enabled: true })).toMatchObject({ status: 400, body: { meta: { param: 'accessKeyId' } } });
    expect((await one.patch({ enabled: true, ...credentials })).status).toBe(200);
  });

  test('change together', async () => {
    const one = await project();
    await one.put(s3);
    expect((await one.put({ accessKeyId: 'OTHER' })).body.meta).toMatchObject({ param: 'secretAccessKey' });
    await one.put({ accessKeyId: 'OTHER', secretAccessKey: 'new' });
    expect(credentialsOf(one.stored(), cipher)).toEqual({ accessKeyId: 'OTHER', secretAccessKey: 'new' });
  });

  test('of another project are of no use', async () => {
    const [one, other] = [await project(), await project()];
    await one.put(s3);
    await other.put(s3);
    const stolen = { ...other.stored(), sealedCredentials: one.stored().sealedCredentials };
    expect(credentialsOf(stolen, cipher)).toBeNull();
  });
});

test.each<[string, object]>([
  ['protocol', { urls: http.urls }],
  ['protocol', { ...http, protocol: 'ftp' }],
  ['urls', { protocol: 'http' }],
  ['urls', { ...http, urls: [] }],
  ['urls', { ...http, urls: Array.from({ length: 21 }, (_, index) => `https://example.com/${index}`) }],
  ['urls', { ...http, urls: ['http://127.0.0.1/fences.csv'] }],
  ['urls', { ...http, urls: ['http://169.254.169.254/latest/meta-data'] }],
  ['urls', { ...http, urls: ['ftp://example.com/fences.csv'] }],
  ['urls', { ...http, urls: ['https://user:password@example.com/'] }],
  ['notificationEmail', { ...http, notificationEmail: 'a@example.com,b@example.com' }],
  ['notificationEmail', { ...http, notificationEmail: 'a@example.com\r\nBcc: b@example.com' }],
  ['enabled', { ...http, enabled: 'perhaps' }],
  ['region', { ...s3, region: null }],
  ['region', { ...s3, region: 'eu.central' }],
  ['bucket', { ...s3, bucket: 'a/b' }],
  ['bucket', { ...s3, bucket: null }],
  ['keys', { ...s3, keys: ['../other/secret.csv'] }],
  ['keys', { ...s3, keys: null }],
  ['accessKeyId', { ...s3, accessKeyId: 'a\r\nb' }],
  ['secretAccessKey', { ...s3, secretAccessKey: '' }],
  ['endpoint', { ...s3, endpoint: 'http://10.0.0.1:9000' }],
  ['endpoint', { ...s3, endpoint: 'https://example.com/path' }],
  ['url', { ...http, url: 'https://example.com' }],
])('%s is refused: %j', async (param, body) => {
  const { status, body: answer } = await (await project()).put(body);
  expect([status, answer.meta.param, answer.meta.type]).toEqual([400, param, 'invalid_parameter']);
});

import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { honoursIdempotencyKey } from '../http/requests/idempotency.js';
import { adminApiKey, type Body, startApi, useApi, webhookParts } from './testing/fixtures.js';

const maxBytesPerCaller = 20_000;
const [dayMs, shortMs] = [24 * 60 * 60_000, 600_000];
const retentions = [
  { keeps: 'answer', keptMs: dayMs, maxBytesPerCaller, maxBytes: 20 * maxBytesPerCaller },
  { keeps: 'answer', keptMs: shortMs, maxBytesPerCaller, maxBytes: 10 * maxBytesPerCaller },
  { keeps: 'success', keptMs: shortMs, maxBytesPerCaller, maxBytes: 10 * maxBytesPerCaller },
] as const;
const parts = {
  retentions,
  webhooks: webhookParts({ maxWebhooks: 200 }),
  addRoutes: () => async (app: FastifyInstance) => {
    app.post('/v1/large-answers', { config: { authority: 'publishable', limit: 'query' } }, async () => ({
      text: randomBytes(3_000).toString('hex'),
    }));
  },
};
const api = await useApi(parts);

/** Creates another record on every call. */
const webhook = (fields: object = {}) => ({ url: 'https://example.com/', ...fields });
/** The start of gzip data in base64, which would show data that was compressed but not encrypted. */
const gzipStart = 'H4sI';

const freshKey = () => randomBytes(8).toString('hex');

const post = (
  url: string,
  key: string,
  body: object,
  options: { key?: string; headers?: Record<string, string> } = {},
) => api.call('POST', url, { ...options, body, headers: { ...options.headers, 'idempotency-key': key } });

const count = async (): Promise<number> => (await api.call('GET', '/v1/webhooks?limit=1000')).body.webhooks.length;

test('a repetition gets the first answer, and changes nothing', async () => {
  const key = freshKey();
  const before = await count();
  const first = await post('/v1/webhooks', key, webhook());
  const again = await post('/v1/webhooks', key, webhook());
  expect(again).toMatchObject({ status: 200, body: first.body, etag: first.etag });
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(again.headers['x-radar-request-id']).not.toBe(first.headers['x-radar-request-id']);
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(await count()).toBe(before + 1);
});

test('a body that is nested too deeply to be compared is refused; it was answered 500', async () => {
  const body = `{"url":${'['.repeat(60_000)}${']'.repeat(60_000)}}`;
  const headers = { 'idempotency-key': freshKey(), 'content-type': 'application/json' };
  const answer = await api.call('POST', '/v1/webhooks', { body, headers });
  expect(answer).toMatchObject({
    status: 400,
    body: { meta: { message: expect.stringContaining('at most 200 lists') } },
  });
});

test('a key that was used for another request is refused', async () => {
  const key = freshKey();
  await post('/v1/webhooks', key, webhook());
  const { webhooks } = (await api.call('GET', '/v1/webhooks')).body;
  const others = [
    post('/v1/webhooks', key, webhook({ description: 'Other' })),
    post('/v1/webhooks', key, webhook(), { headers: { 'if-match': '"r1"' } }),
    post('/v1/webhooks', key, webhook(), { headers: { 'if-none-match': '*' } }),
    post(`/v1/webhooks/${webhooks[0]._id}/secrets`, key, webhook()),
  ];
  for (const { status, body } of await Promise.all(others)) {
    expect([status, body.meta.type, body.meta.param]).toEqual([422, 'idempotency_key_reused', 'Idempotency-Key']);
  }
});

test('the same key is another one in another project, environment, or with another kind of key', async () => {
  const key = freshKey();
  const other = await api.newProject('Other');
  const keys = [api.secret, api.project.key('live', 'secret'), other.key('test', 'secret')];
  const answers = await Promise.all(keys.map((each) => post('/v1/webhooks', key, webhook(), { key: each })));
  expect(new Set(answers.map(({ body }) => body.webhook._id)).size).toBe(keys.length);
});

test('one of concurrent requests with a key takes effect; others get its answer, or 409 while it runs', async () => {
  const key = freshKey();
  const before = await count();
  const answers = await Promise.all(Array.from({ length: 8 }, () => post('/v1/webhooks', key, webhook())));
  const done = answers.filter(({ status }) => status === 200);
  expect(new Set(done.map(({ body }) => body.webhook._id)).size).toBe(1);
  for (const { status, body, headers } of answers) {
    if (status === 200) continue;
    expect([status, body.meta.type, headers['retry-after']]).toEqual([409, 'request_in_progress', '1']);
  }
  expect(await count()).toBe(before + 1);
});

test('a failure frees the key, so that a corrected request can use it', async () => {
  const key = freshKey();
  expect((await post('/v1/webhooks', key, webhook({ url: 1 }))).status).toBe(400);
  expect((await post('/v1/webhooks', key, webhook())).status).toBe(200);
});

test('a key that is empty, too long or not visible ASCII is refused', async () => {
  for (const key of ['', ' ', 'a b', 'ü', 'x'.repeat(256)]) {
    const { status, body } = await post('/v1/webhooks', key, webhook());
    expect([key, status, body.meta.param]).toEqual([key, 400, 'Idempotency-Key']);
  }
});

test('new keys of a project are not readable where answers are kept', async () => {
  const key = freshKey();
  const first = await post('/v1/projects', key, { name: 'Kept' }, { key: adminApiKey });
  expect(await post('/v1/projects', key, { name: 'Kept' }, { key: adminApiKey })).toMatchObject({ body: first.body });
  const answers = api.storedAnswers.flatMap(({ value }) => JSON.parse(value).answer ?? []);
  expect(answers.length).toBeGreaterThan(0);
  for (const { body } of answers) {
    const text = Buffer.from(body, 'base64').toString('latin1');
    for (const { key: issued } of first.body.project.keys) expect(text).not.toContain(issued);
    expect(text).not.toContain(gzipStart);
  }
});

// A publishable key of the test environment sent 50,000 POSTs with a key. They were counted for the whole project, so
// its live secret key was refused for the rest of the day; the answers of an honest busy client were refused as well.
describe('a caller with more answers than may be kept', () => {
  /** Sends each of many requests twice, and returns the second answers. */
  async function flood(project: Awaited<ReturnType<typeof api.newProject>>) {
    const key = project.key('test', 'publishable');
    const names = Array.from({ length: 30 }, freshKey);
    const answersOf = async () => {
      const answers = [];
      for (const name of names) answers.push(await post('/v1/large-answers', name, {}, { key }));
      return answers;
    };
    expect(new Set((await answersOf()).map(({ status }) => status))).toEqual(new Set([200]));
    return answersOf();
  }

  test('is never refused, and none of its requests takes effect twice', async () => {
    const again = await flood(await api.newProject('Busy'));
    const kept = again.filter(({ headers }) => headers['idempotency-replayed'] === 'true');
    // The first answers for a day, those after them for ten minutes; of the rest, that they succeeded.
    expect(kept.length).toBeGreaterThan(4);
    expect(again.slice(0, kept.length)).toEqual(kept);
    expect(new Set(again.slice(kept.length).map(({ status, body }) => `${status} ${body.meta.type}`))).toEqual(
      new Set(['409 conflict']),
    );
  });

  test('leaves the space of other environments and kinds of key', async () => {
    const busy = await api.newProject('Flooded');
    await flood(busy);
    for (const key of [busy.key('live', 'secret'), busy.key('test', 'secret')]) {
      const name = freshKey();
      const first = await post('/v1/webhooks', name, webhook(), { key });
      expect(await post('/v1/webhooks', name, webhook(), { key })).toMatchObject({ status: 200, body: first.body });
    }
  });

  test('has no more bytes kept than the bounds', async () => {
    const before = api.storedAnswers.length;
    await flood(await api.newProject('Counted'));
    const bytes = new Map<number, number>();
    for (const { value, ttlMs } of api.storedAnswers.slice(before)) {
      if (JSON.parse(value).answer) bytes.set(ttlMs, (bytes.get(ttlMs) ?? 0) + value.length);
    }
    expect([...bytes.keys()].sort((a, b) => b - a)).toEqual([dayMs, shortMs]);
    for (const each of bytes.values()) expect(each).toBeLessThanOrEqual(maxBytesPerCaller);
  });

  test('has no more bytes kept with all others than the bounds of all', async () => {
    const total = await startApi({ ...parts, retentions: retentions.map((each) => ({ ...each, maxBytes: 8_000 })) });
    try {
      for (const environment of ['test', 'live'] as const) {
        const key = total.project.key(environment, 'publishable');
        for (let index = 0; index < 30; index++) {
          const headers = { 'idempotency-key': freshKey() };
          expect((await total.call('POST', '/v1/large-answers', { key, body: {}, headers })).status).toBe(200);
        }
      }
      const kept = total.storedAnswers.filter(({ value }) => JSON.parse(value).answer !== undefined);
      const bytes = kept.reduce((sum, { value }) => sum + value.length, 0);
      expect(bytes).toBeGreaterThan(8_000);
      expect(bytes).toBeLessThanOrEqual(3 * 8_000);
    } finally {
      await total.close();
    }
  });
});

describe('the description of the API', () => {
  test('names the header on every POST that honours it', async () => {
    const { body } = await api.call('GET', '/openapi.json', { key: '' });
    const repeatable = Object.entries<Record<string, Body>>(body.paths)
      .filter(([, { post: operation }]) => operation !== undefined)
      .filter(
        ([, { post: operation }]) =>
          !(operation.parameters ?? []).some(({ name }: { name: string }) => name === 'Idempotency-Key'),
      )
      .map(([path]) => path);
    const withoutProject = /^\/v1\/(signup|signin|signout|password|account|invitations\/(accept|preview))/;
    expect(repeatable.filter((path) => !withoutProject.test(path))).toEqual([
      '/v1/search/autocomplete/click',
      '/v1/explain',
    ]);
  });

  test('routes without a key and methods other than POST do not honour it', () => {
    expect(honoursIdempotencyKey('POST', { authority: 'secret' })).toBe(true);
    expect(honoursIdempotencyKey('POST', { authority: 'session' })).toBe(true);
    expect(honoursIdempotencyKey('POST', { authority: 'none' })).toBe(false);
    expect(honoursIdempotencyKey('POST', { authority: 'publishable', isRepeatable: true })).toBe(false);
    expect(honoursIdempotencyKey(['GET', 'HEAD'], { authority: 'secret' })).toBe(false);
  });
});

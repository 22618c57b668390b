import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freshId } from '../../schemas/ids.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { type Body, useApi, webhookParts } from '../testing/fixtures.js';
import type { WebhookInput } from './fields.js';

const parts = webhookParts({ maxWebhooks: 4 });
const api = await useApi({ webhooks: parts });

const url = 'https://example.com/events';

/** Creates a project. Returns it, and a function that calls with its secret key of Test. */
async function newOwner() {
  const project = await api.newProject('Webhooks');
  const key = project.key('test', 'secret');
  return {
    project,
    call: (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object | string) =>
      api.call(method, `/v1/webhooks${path}`, { key, ...(body !== undefined && { body }) }),
  };
}
type Owner = Awaited<ReturnType<typeof newOwner>>;

const created = async (owner: Owner, fields: object = {}): Promise<Body> =>
  (await owner.call('POST', '', { url, ...fields })).body.webhook;

test('a webhook is created with its defaults, shown, listed and deleted', async () => {
  const owner = await newOwner();
  const { status, body } = await owner.call('POST', '', { url: 'HTTPS://Example.com' });
  expect(status).toBe(200);
  const { _id, createdAt, secrets } = body.webhook;
  expect(body.webhook).toEqual({
    _id,
    live: false,
    createdAt,
    updatedAt: createdAt,
    url: 'https://example.com/',
    delivery: 'single',
    enabled: true,
    secrets: [{ _id: expect.any(String), hint: expect.any(String), createdAt, secret: expect.any(String) }],
  });
  expect(Buffer.from(secrets[0].secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
  const { secret: _, ...shown } = secrets[0];
  expect((await owner.call('GET', `/${_id}`)).body.webhook).toEqual({ ...body.webhook, secrets: [shown] });
  expect((await owner.call('GET', '')).body.webhooks).toEqual([{ ...body.webhook, secrets: [shown] }]);
  expect(await owner.call('DELETE', `/${_id}`)).toMatchObject({ status: 200, body: { meta: { code: 200 } } });
  expect((await owner.call('GET', `/${_id}`)).status).toBe(404);
  expect((await owner.call('GET', '')).body.webhooks).toEqual([]);
});

describe('changes', () => {
  const url = fc.constantFrom('https://example.com/a', 'https://example.org/b?c=d', 'http://8.8.8.8:8080/');
  const unset = fc.constantFrom(null, '');
  const types = fc.uniqueArray(fc.constantFrom('user.entered_geofence', 'opened_app', 'order-paid', 'app.opened'), {
    minLength: 2,
  });
  const tags = fc.uniqueArray(
    fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((tag) => tag.trim() !== ''),
    { minLength: 2 },
  );
  /** Names of optional fields, with values of any form. */
  const partial = fc.record(
    {
      url,
      description: fc.oneof(unset, fc.constantFrom('Ours', 'Theirs')),
      types: fc.oneof(unset, types),
      tags: fc.oneof(unset, tags),
      delivery: fc.oneof(unset, fc.constantFrom('single', 'grouped')),
      enabled: fc.oneof(unset, fc.boolean()),
    },
    { requiredKeys: [] },
  );
  const defaults = { description: null, types: null, tags: null, delivery: 'single', enabled: true };

  /** Returns the fields of the model after one was given as null or as empty text. */
  const settled = (fields: object) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        value === null || value === '' ? defaults[name as keyof typeof defaults] : value,
      ]),
    );

  function asForm(fields: object): string {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      for (const one of Array.isArray(value) ? value : [value]) form.append(name, one === null ? '' : `${one}`);
    }
    return form.toString();
  }

  test('merge as a plain object does, whether they come as JSON or as a form', async () => {
    const owner = await newOwner();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(partial, fc.boolean()), { maxLength: 6 }), async (history) => {
        const { _id, secrets } = await created(owner);
        let model = { url: 'https://example.com/events', ...defaults } as WebhookInput;
        for (const [fields, isForm] of history) {
          model = { ...model, ...settled(fields) };
          const { status } = await owner.call('PUT', `/${_id}`, isForm ? asForm(fields) : fields);
          expect(status).toBe(200);
        }
        const set = Object.fromEntries(Object.entries(model).filter(([, value]) => value !== null));
        const { webhook } = (await owner.call('GET', `/${_id}`)).body;
        const { createdAt, updatedAt, live, disabled, secrets: kept, _id: id, ...fields } = webhook;
        expect(fields).toEqual(set);
        expect(disabled?.reason).toBe(model.enabled ? undefined : 'owner');
        expect(kept.map((secret: Body) => secret._id)).toEqual(secrets.map((secret: Body) => secret._id));
        await owner.call('DELETE', `/${_id}`);
      }),
      { numRuns: propertyRuns(40) },
    );
  });

  test('the reason why a webhook is disabled stays until it is enabled', async () => {
    const owner = await newOwner();
    const { _id } = await created(owner);
    const record = api.readModel.webhooks({ project: owner.project.record._id, environment: 'test' })[0]!;
    const failing = { ...record, enabled: false, disabled: { reason: 'failing', at: 1 } } as const;
    await api.writer.write([{ kind: 'webhook', id: _id, record: failing }]);
    const disabled = { reason: 'failing', at: '1970-01-01T00:00:00.001Z' };
    expect((await owner.call('PUT', `/${_id}`, { enabled: false })).body.webhook).toMatchObject({
      enabled: false,
      disabled,
    });
    expect((await owner.call('PUT', `/${_id}`, { description: 'x' })).body.webhook).toMatchObject({
      enabled: false,
      disabled,
    });
    const enabled = (await owner.call('PUT', `/${_id}`, 'enabled=true')).body.webhook;
    expect([enabled.enabled, 'disabled' in enabled]).toEqual([true, false]);
  });

  test('an answer can be sent back as it is', async () => {
    const owner = await newOwner();
    const webhook = await created(owner, { description: 'Ours', tags: ['store'], enabled: false });
    const { status, body } = await owner.call('PUT', `/${webhook._id}`, webhook);
    expect(status).toBe(200);
    const { updatedAt: _, secrets, ...fields } = webhook;
    expect(body.webhook).toMatchObject(fields);
  });

  test('at the same time are all applied', async () => {
    const owner = await newOwner();
    const { _id } = await created(owner);
    const bodies = [{ description: 'Ours' }, { tags: ['store'] }, { types: ['opened_app'] }, { delivery: 'grouped' }];
    await Promise.all([
      ...bodies.map((body) => owner.call('PUT', `/${_id}`, body)),
      owner.call('POST', `/${_id}/secrets`),
    ]);
    const { webhook } = (await owner.call('GET', `/${_id}`)).body;
    expect(webhook).toMatchObject(Object.assign({}, ...bodies));
    expect(webhook.secrets).toHaveLength(2);
  });
});

test('lists in commas count as lists, each entry once', async () => {
  const owner = await newOwner();
  const { body } = await owner.call(
    'POST',
    '',
    `url=${url}&types=opened_app, user.entered_beacon&tags=["a,b","c","c"]`,
  );
  expect(body.webhook).toMatchObject({ types: ['opened_app', 'user.entered_beacon'], tags: ['a,b', 'c'] });
});

test('an environment never exceeds its limit, even with many requests at once', async () => {
  const owner = await newOwner();
  const answers = await Promise.all(Array.from({ length: 6 }, () => owner.call('POST', '', { url })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 409, 409]);
  const live = owner.project.key('live', 'secret');
  expect((await api.call('POST', '/v1/webhooks', { key: live, body: { url } })).status).toBe(200);
});

test('pages by createdAt are the webhooks, newest first', async () => {
  const owner = await newOwner();
  const made: Body[] = [];
  for (let count = 0; count < 4; count++) made.unshift(await created(owner));
  const first = (await owner.call('GET', '?limit=3')).body;
  const second = (await owner.call('GET', `?limit=3&createdBefore=${first.webhooks[2].createdAt}`)).body;
  expect([first.meta.hasMore, second.meta.hasMore]).toEqual([true, false]);
  const ids = [...first.webhooks, ...second.webhooks].map(({ _id }) => _id);
  expect(ids).toEqual(made.map(({ _id }) => _id));
});

describe('what is refused', () => {
  const tooMany = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
  const reserved = 'must not lead to a private, loopback or otherwise reserved address';
  test.each([
    [{}, 'url', 'is required'],
    [{ url: '' }, 'url', 'is required'],
    [{ url: 'ftp://example.com' }, 'url', 'must be a URL that begins with http:// or https://'],
    [{ url: 'https://a:b@example.com' }, 'url', 'must not contain a user name or password'],
    [{ url: `https://example.com/${'x'.repeat(2_048)}` }, 'url', 'must have at most 2048 characters'],
    ...['127.0.0.1', '10.1.2.3', '169.254.169.254', '[::1]', '0x7f.1', '[::ffff:10.0.0.1]', 'localhost'].map((host) => [
      { url: `http://${host}/` },
      'url',
      `${reserved}; the operator can allow its network by webhooks.allowedNetworks`,
    ]),
    [{ url, description: 'x'.repeat(4_097) }, 'description', 'must have at most 4096 characters'],
    [{ url, types: [] }, 'types', 'must be 1 to 100 event types'],
    [{ url, types: ['user.entered_geofense'] }, 'types', 'must be 1 to 100 event types'],
    [{ url, types: ['a b'] }, 'types', 'must be 1 to 100 event types'],
    [{ url, types: { a: 1 } }, 'types', 'must be 1 to 100 event types'],
    [{ url, types: tooMany(101) }, 'types', 'must be 1 to 100 event types'],
    [{ url, tags: [] }, 'tags', 'must be 1 to 1000 tags of at most 256 characters'],
    [{ url, tags: [''] }, 'tags', 'must be 1 to 1000 tags of at most 256 characters'],
    [{ url, tags: ['x'.repeat(257)] }, 'tags', 'must be 1 to 1000 tags of at most 256 characters'],
    [{ url, tags: tooMany(1_001) }, 'tags', 'must be 1 to 1000 tags of at most 256 characters'],
    [{ url, tags: '["a"' }, 'tags', 'must be valid JSON'],
    [{ url, delivery: 'batch' }, 'delivery', 'must be one of single, grouped'],
    [{ url, enabled: 'yes' }, 'enabled', 'must be true or false'],
    [{ url, tag: 'store' }, 'tag', 'is not a known field'],
  ] as [object, string, string][])('%j', async (fields, param, rule) => {
    const owner = await newOwner();
    const { status, body } = await owner.call('POST', '', fields);
    expect([status, body.meta.param]).toEqual([400, param]);
    expect(body.meta.message).toMatch(`${param}: ${rule}`);
    const { _id } = await created(owner);
    const changed = await owner.call('PUT', `/${_id}`, { url: null, ...fields });
    expect([changed.status, changed.body.meta.param]).toEqual([400, param]);
  });
});

test('webhooks belong to one project and environment', async () => {
  const [owner, other] = [await newOwner(), await newOwner()];
  const { _id } = await created(owner);
  const { _id: secret } = (await owner.call('POST', `/${_id}/secrets`)).body.webhook.secrets[1];
  const strangers = [owner.project.key('live', 'secret'), other.project.key('test', 'secret')];
  for (const key of strangers) {
    expect((await api.call('GET', '/v1/webhooks', { key })).body.webhooks).toEqual([]);
    for (const [method, path, body] of [
      ['GET', ''],
      ['PUT', '', { description: 'Mine' }],
      ['DELETE', ''],
      ['POST', '/secrets', {}],
      ['DELETE', `/secrets/${secret}`],
      ['POST', '/test', {}],
      ['POST', '/redeliver', { event: freshId() }],
      ['GET', '/attempts'],
    ] as const) {
      expect((await api.call(method, `/v1/webhooks/${_id}${path}`, { key, ...(body && { body }) })).status).toBe(404);
    }
  }
  const publishable = owner.project.key('test', 'publishable');
  expect((await api.call('GET', `/v1/webhooks/${_id}`, { key: publishable })).status).toBe(403);
  expect((await owner.call('GET', `/${_id}`)).body.webhook.secrets).toHaveLength(2);
});

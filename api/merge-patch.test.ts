import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Body, useApi, webhookParts } from './testing/fixtures.js';

const api = await useApi({ webhooks: webhookParts() });

type Fields = Readonly<Record<string, unknown>>;

/** The fields that a PUT must name, and values of the others; null clears. */
const resources = {
  geofences: {
    required: { description: 'Shop', type: 'circle', coordinates: [13.4, 52.5], radius: 100 },
    fields: {
      description: fc.constantFrom('Shop', 'Bakery'),
      coordinates: fc.constantFrom([13.4, 52.5], [13.5, 52.6]),
      radius: fc.constantFrom(50, 100),
      enabled: fc.constantFrom(true, false, null),
      metadata: fc.constantFrom(null, { a: 1 }, { b: 'x' }, { a: null, c: true }),
      operatingHours: fc.constantFrom(null, { monday: [['09:00', '17:00']] }),
      stopDetection: fc.constantFrom(true, false, null),
      dwellThreshold: fc.constantFrom(5, null),
      deleteAfter: fc.constantFrom('2090-01-01T00:00:00.000Z', null),
      userIds: fc.constantFrom('a,b', null),
      ip: fc.constantFrom('192.0.2.*', null),
    },
  },
  beacons: {
    required: {
      description: 'Register',
      type: 'ibeacon',
      uuid: 'a7f2b4c0-1111-2222-3333-444455556666',
      major: 1,
      minor: 2,
      coordinates: [13.4, 52.5],
    },
    fields: {
      description: fc.constantFrom('Register', 'Door'),
      major: fc.constantFrom(1, 7),
      coordinates: fc.constantFrom([13.4, 52.5], [13.5, 52.6]),
      enabled: fc.constantFrom(true, false, null),
      metadata: fc.constantFrom(null, { a: 1 }, { b: 'x' }, { a: null, c: true }),
    },
  },
};

const withoutNull = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

/** The oracle: merges fields, and within metadata. Omits an empty result, as a client does. */
function merge(current: Fields, patch: Fields): Fields {
  const metadata =
    patch.metadata === null || patch.metadata === undefined
      ? patch.metadata
      : withoutNull({ ...(current.metadata as object | null | undefined), ...(patch.metadata as object) });
  return withoutNull({
    ...current,
    ...patch,
    ...(metadata !== undefined && { metadata }),
  });
}

/** Metadata as JSON text once replaced the keys that it did not name. */
const withTexts = (fields: Fields): Fields =>
  fields.metadata ? { ...fields, metadata: JSON.stringify(fields.metadata) } : fields;

const content = ({ _id, createdAt, updatedAt, externalId, ...rest }: Body) => rest;

describe.each(Object.entries(resources))('%s', (name, { required, fields }) => {
  const single = name.slice(0, -1);
  const some = fc.record(fields as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] });

  test('a PATCH of any fields, by id or pair, equals the PUT of the merged record', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        some,
        fc.array(some, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
        async (first, patches, byId, hasTexts) => {
          run += 1;
          let all: Fields = merge(required, first);
          const created = await api.call('PUT', `/v1/${name}/patched/${run}`, { body: withoutNull(all) });
          expect(created.status).toBe(200);
          const path = byId ? `/v1/${name}/${created.body[single]._id}` : `/v1/${name}/patched/${run}`;
          for (const patch of patches) {
            all = merge(all, patch);
            const changed = await api.call('PATCH', path, { body: hasTexts ? withTexts(patch) : patch });
            const put = await api.call('PUT', `/v1/${name}/put/${run}`, { body: all });
            expect(changed.status).toBe(200);
            expect({ ...content(changed.body[single]), tag: '' }).toEqual({ ...content(put.body[single]), tag: '' });
          }
        },
      ),
      { numRuns: 8 },
    );
  });

  test('PATCH changes one key of metadata by its name, with a dot or in brackets', async () => {
    const path = `/v1/${name}/t/keys`;
    const patched = async (body: Fields) => {
      await api.call('PUT', path, { body: { ...required, metadata: { a: 1, b: 2 } } });
      return (await api.call('PATCH', path, { body })).body;
    };
    for (const [patch, metadata] of [
      [{ 'metadata.b': 3 }, { a: 1, b: 3 }],
      [{ 'metadata[b]': 3 }, { a: 1, b: 3 }],
      [
        { 'metadata[b]': null, 'metadata.c.d': true },
        { a: 1, 'c.d': true },
      ],
      // The dictionary is cleared first.
      [{ metadata: null, 'metadata.b': 3 }, { b: 3 }],
    ] as [Fields, Fields][]) {
      const body = await patched(patch);
      expect([patch, body[single]?.metadata]).toEqual([patch, metadata]);
    }
    // The characters of the JSON text became keys.
    for (const metadata of [{ c: 1 }, '{"c":1}']) {
      const { meta } = await patched({ metadata, 'metadata.d': 2 });
      expect(meta).toMatchObject({ code: 400, message: "metadata: can't be combined with metadata.{key}" });
    }
  });

  test('PATCH takes a record that was read, and changes nothing; a PUT needs its coordinates', async () => {
    const path = `/v1/${name}/t/read`;
    const { body: written } = await api.call('PUT', path, { body: { ...required, metadata: { a: 1 } } });
    const read = written[single];
    const { status, body } = await api.call('PATCH', path, { body: read });
    expect(status).toBe(200);
    expect({ ...body[single], updatedAt: '' }).toEqual({ ...read, updatedAt: '' });
    const put = await api.call('PUT', path, { body: read });
    expect(put.body.meta).toMatchObject({ code: 400, type: 'invalid_parameter', param: 'coordinates' });
  });

  test('PATCH takes the media type of JSON Merge Patch', async () => {
    const path = `/v1/${name}/t/typed`;
    await api.call('PUT', path, { body: required });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { status, body } = await api.call('PATCH', path, { body: '{"metadata":{"a":1}}', headers });
    expect([status, body[single].metadata]).toEqual([200, { a: 1 }]);
  });

  test('PATCH needs a record, keeps its pair, and honours If-Match', async () => {
    expect((await api.call('PATCH', `/v1/${name}/no/where`, { body: { enabled: false } })).status).toBe(404);
    const path = `/v1/${name}/t/matched`;
    const { etag } = await api.call('PUT', path, { body: required });
    expect((await api.call('PATCH', path, { body: { tag: 'other' } })).status).toBe(409);
    expect((await api.call('PATCH', path, { body: { nonsense: 1 } })).status).toBe(400);
    const headers = { 'if-match': `${etag}` };
    expect((await api.call('PATCH', path, { body: { enabled: false }, headers })).status).toBe(200);
    expect((await api.call('PATCH', path, { body: { enabled: true }, headers })).status).toBe(412);
  });

  test('concurrent PATCHes of different fields all take effect', async () => {
    const path = `/v1/${name}/t/contended`;
    await api.call('PUT', path, { body: required });
    const keys = ['a', 'b', 'c', 'd'];
    const answers = await Promise.all(keys.map((key) => api.call('PATCH', path, { body: { metadata: { [key]: 1 } } })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await api.call('GET', path);
    expect(body[single].metadata).toEqual({ a: 1, b: 1, c: 1, d: 1 });
  });
});

// The dashboard's form showed such a geofence as disabled, sent `enabled`, and it stayed disabled without a word.
test('a PATCH that enables a geofence clears a disableAfter that has passed, unless it names one', async () => {
  const { required } = resources.geofences;
  const path = '/v1/geofences/t/seasonal';
  const past = '2020-01-01T00:00:00.000Z';
  const later = '2090-01-01T00:00:00.000Z';
  const patched = async (disableAfter: string, body: Fields) => {
    await api.call('PUT', path, { body: { ...required, disableAfter } });
    const { enabled, disableAfter: after } = (await api.call('PATCH', path, { body })).body.geofence;
    return [enabled, after];
  };
  expect(await patched(past, { enabled: true })).toEqual([true, undefined]);
  expect(await patched(past, { enabled: null })).toEqual([true, undefined]);
  expect(await patched(past, { enabled: true, disableAfter: later })).toEqual([true, later]);
  expect(await patched(past, { enabled: true, disableAfter: past })).toEqual([false, past]);
  expect(await patched(past, { enabled: false })).toEqual([false, past]);
  expect(await patched(past, { description: 'Kiosk' })).toEqual([false, past]);
  expect(await patched(later, { enabled: true })).toEqual([true, later]);
});

test('settings and webhooks change by PATCH as well: what is absent stays, null restores the default', async () => {
  await api.call('PATCH', '/v1/settings', { body: { dwellEvents: true, minimumConfidence: 2 } });
  const { settings } = (await api.call('PATCH', '/v1/settings', { body: { dwellEvents: null } })).body;
  expect(settings).toMatchObject({ dwellEvents: false, minimumConfidence: 2 });
  const { webhook } = (
    await api.call('POST', '/v1/webhooks', { body: { url: 'https://example.com/', description: 'A' } })
  ).body;
  const changed = await api.call('PATCH', `/v1/webhooks/${webhook._id}`, {
    body: { description: null, enabled: false },
  });
  expect(changed.body.webhook).toMatchObject({ url: 'https://example.com/', enabled: false });
  expect(changed.body.webhook.description).toBeUndefined();
});

/** Guarantees of If-Match and ETag on every kind of record, and the result of an edit after another one. */
import { describe, expect, test } from 'vitest';
import { adminApiKey, type Call, completeMap, mapParts, useApi } from './testing/fixtures.js';

const maps = mapParts({
  render: async () => ({ ...completeMap, processorMs: 0, bytes: Buffer.from('map') }),
  checkStyle: async () => ({ ok: true, value: [] }),
  checkIcon: async () => ({ ok: true, value: 'png' }),
  webStyle: async () => ({ result: { version: 8, sources: {}, layers: [] }, processorMs: 0 }),
  webFile: async () => ({ result: null, processorMs: 0 }),
});
const api = await useApi({ maps });

const place = { name: 'Kiosk', geometry: { type: 'Point', coordinates: [10, 50] } };
const fence = { description: 'A shop', type: 'circle', coordinates: [10, 50], radius: 100 };
const beacon = {
  description: 'A beacon',
  type: 'ibeacon',
  uuid: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
  major: '1',
  minor: '1',
  coordinates: [10, 50],
};
const style = { version: 8, sources: {}, layers: [] };
const asAdministrator = { key: adminApiKey };
const rotation = { environment: 'live', kind: 'secret' };

interface Resource {
  readonly name: string;
  /** Creates a record and returns its path. */
  make(): Promise<string>;
  readonly change?: { readonly method: 'PUT' | 'PATCH' | 'POST'; readonly path?: string; readonly body: object };
  readonly isDeletable: boolean;
  readonly call?: Call;
}

async function posted(path: string, body: object, name: string): Promise<string> {
  const answer = await api.call('POST', path, { body });
  expect(answer.status).toBe(200);
  return `${path}/${answer.body[name]._id}`;
}
let made = 0;

const resources: readonly Resource[] = [
  {
    name: 'geofence',
    make: () => posted('/v1/geofences', { ...fence, tag: 'a', externalId: `${made++}` }, 'geofence'),
    change: { method: 'PUT', body: fence },
    isDeletable: true,
  },
  {
    name: 'geofence of a pair',
    make: async () => {
      const path = `/v1/geofences/pair/${made++}`;
      await api.call('PUT', path, { body: fence });
      return path;
    },
    change: { method: 'PUT', body: fence },
    isDeletable: true,
  },
  {
    name: 'beacon',
    make: () => posted('/v1/beacons', { ...beacon, minor: `${made++}` }, 'beacon'),
    change: { method: 'PUT', body: { ...beacon, minor: '9' } },
    isDeletable: true,
  },
  {
    name: 'beacon of a pair',
    make: async () => {
      const path = `/v1/beacons/pair/${made++}`;
      await api.call('PUT', path, { body: { ...beacon, minor: `${made}` } });
      return path;
    },
    change: { method: 'PUT', body: { ...beacon, minor: '8' } },
    isDeletable: true,
  },
  {
    name: 'webhook',
    make: () => posted('/v1/webhooks', { url: 'https://receiver.example/' }, 'webhook'),
    change: { method: 'PUT', body: { description: 'changed' } },
    isDeletable: true,
  },
  {
    name: 'secret of a webhook',
    make: () => posted('/v1/webhooks', { url: 'https://receiver.example/' }, 'webhook'),
    change: { method: 'POST', path: '/secrets', body: {} },
    isDeletable: true,
  },
  { name: 'settings', make: async () => '/v1/settings', change: { method: 'PUT', body: {} }, isDeletable: false },
  {
    name: 'project',
    make: async () => `/v1/projects/${(await api.newProject('Edited')).record._id}`,
    change: { method: 'POST', path: '/keys/rotate', body: rotation },
    isDeletable: false,
    call: asAdministrator,
  },
  {
    name: 'map style',
    make: () => posted('/v1/map-styles', { style }, 'mapStyle'),
    change: { method: 'PUT', body: { name: 'changed' } },
    isDeletable: true,
  },
  {
    name: 'place',
    async make() {
      const path = `/v1/places/${made++}`;
      await api.call('PUT', path, { body: place });
      return path;
    },
    change: { method: 'PUT', body: { ...place, name: 'Changed' } },
    isDeletable: true,
  },
  {
    name: 'map marker',
    make: () => posted('/v1/map-markers', { image: Buffer.from('png').toString('base64') }, 'mapMarker'),
    isDeletable: true,
  },
];

/** The resources that accept partial updates. */
const patches: Readonly<Record<string, object>> = {
  geofence: { description: 'patched' },
  'geofence of a pair': { description: 'patched' },
  beacon: { description: 'patched' },
  'beacon of a pair': { description: 'patched' },
  webhook: { description: 'patched' },
  settings: {},
  project: { name: 'patched' },
  place: { name: 'patched' },
  'map style': { name: 'patched' },
  'map marker': { name: 'patched' },
};
const patched = Object.entries(patches).map(([name, body]): Resource => {
  const resource = resources.find((each) => each.name === name)!;
  return { ...resource, name: `${name}, changed in part`, change: { method: 'PATCH', body } };
});

describe.each([...resources, ...patched])('a $name', ({ make, change, isDeletable, call = {} }) => {
  const send = (path: string, ifMatch: string | undefined) =>
    api.call(change!.method, path + (change!.path ?? ''), {
      ...call,
      body: change!.body,
      ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
    });
  const remove = (path: string, ifMatch: string) =>
    api.call('DELETE', path, { ...call, headers: { 'if-match': ifMatch } });

  test('is read with its revision, and edited only at it', async () => {
    const path = await make();
    let { etag } = await api.call('GET', path, call);
    expect(etag).toMatch(/^"r\d+"$/);
    if (change) {
      const stale = etag as string;
      const changed = await send(path, stale);
      expect(changed.status).toBe(200);
      etag = changed.etag;
      expect(etag).toMatch(/^"r\d+"$/);
      expect(etag).not.toBe(stale);
      expect((await api.call('GET', path, call)).etag).toBe(etag);
      for (const other of [stale, `W/${etag}`, 'nonsense', '""']) {
        const refused = await send(path, other);
        expect([refused.status, refused.body.meta.type]).toEqual([412, 'precondition_failed']);
      }
      expect((await api.call('GET', path, call)).etag).toBe(etag);
      for (const good of ['*', `"other", ${etag}`]) {
        const answer = await send(path, good.replace(etag as string, `${(await api.call('GET', path, call)).etag}`));
        expect(answer.status).toBe(200);
      }
      ({ etag } = await send(path, undefined));
    }
    if (!isDeletable) return;
    expect((await remove(path, '"r999999"')).status).toBe(412);
    expect((await api.call('GET', path, call)).status).toBe(200);
    expect((await remove(path, etag as string)).status).toBe(200);
    expect((await remove(path, '*')).status).toBe(404);
  });
});

// The message named the ETag that the client had sent, as far as it could see.
test('If-Match without quotation marks is refused, and the message says so', async () => {
  const path = '/v1/geofences/quoted/one';
  const { etag } = await api.call('PUT', path, { body: fence });
  const headers = { 'if-match': `${etag}`.replaceAll('"', '') };
  const { body } = await api.call('PUT', path, { body: fence, headers });
  const rule = `If-Match does not match: the record is at ${etag}; an ETag has quotation marks around it`;
  expect(body.meta.message).toBe(rule);
});

test('If-Match refuses to create what is not there', async () => {
  const path = '/v1/geofences/none/there';
  for (const ifMatch of ['*', '"r0"']) {
    const answer = await api.call('PUT', path, { body: fence, headers: { 'if-match': ifMatch } });
    expect([answer.status, answer.body.meta.type]).toEqual([412, 'precondition_failed']);
  }
  expect((await api.call('GET', path)).status).toBe(404);
});

// A proxy that compresses an answer makes its ETag weak. The message did not say why such an ETag never matches.
test('the refusal of a weak ETag says that it never matches', async () => {
  const path = '/v1/geofences/weak/one';
  const { etag } = await api.call('PUT', path, { body: fence });
  const { body } = await api.call('PUT', path, { body: fence, headers: { 'if-match': `W/${etag}` } });
  expect(body.meta.message).toMatch(/; a weak ETag, as proxies make it, never does: leave out W\/$/);
});

// It was ignored, so a client that wanted to create a record replaced the one of somebody else.
describe('If-None-Match', () => {
  const send = (method: 'PUT' | 'PATCH' | 'DELETE', path: string, value: string) =>
    api.call(method, path, { ...(method !== 'DELETE' && { body: fence }), headers: { 'if-none-match': value } });

  test('* creates a record, and changes none', async () => {
    const path = '/v1/geofences/only/created';
    const { status, etag } = await send('PUT', path, '*');
    expect(status).toBe(200);
    for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
      const refused = await send(method, path, '*');
      expect([refused.status, refused.body.meta.type]).toEqual([412, 'precondition_failed']);
      expect(refused.body.meta.message).toBe(`If-None-Match does not match: the record is at ${etag}`);
    }
    const posted = { body: { ...fence, tag: 'only', externalId: 'created' }, headers: { 'if-none-match': '*' } };
    expect((await api.call('POST', '/v1/geofences', posted)).status).toBe(412);
    expect((await api.call('GET', path)).etag).toBe(etag);
  });

  test('of two creations at once one succeeds', async () => {
    const answers = await Promise.all([1, 2].map(() => send('PUT', '/v1/geofences/only/one', '*')));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test('with an ETag refuses that revision, also a weak one, and no other', async () => {
    const path = '/v1/geofences/only/others';
    const { etag } = await api.call('PUT', path, { body: fence });
    expect((await send('PUT', path, `"r0", W/${etag}`)).status).toBe(412);
    expect((await send('PUT', path, '"r0"')).status).toBe(200);
  });
});

test('edits of one record that are sent at once are all applied, one after the other', async () => {
  const { _id } = (await api.call('POST', '/v1/webhooks', { body: { url: 'https://receiver.example/' } })).body.webhook;
  const rotated = await Promise.all(
    Array.from({ length: 4 }, () => api.call('POST', `/v1/webhooks/${_id}/secrets`, { body: {} })),
  );
  expect(rotated.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const { webhook } = (await api.call('GET', `/v1/webhooks/${_id}`)).body;
  const kept = webhook.secrets.map((secret: { _id: string }) => secret._id);
  expect(kept).toEqual(expect.arrayContaining(rotated.map(({ body }) => body.webhook.secrets[0]._id)));
});

// Sixteen forms were saved at once, and a third of them was answered that other edits kept coming first.
test.each(['geofence', 'beacon'])('changes of one %s that are sent at once are all applied', async (name) => {
  const path = await resources.find((each) => each.name === name)!.make();
  const keys = Array.from({ length: 16 }, (_, index) => `key${index}`);
  const answers = await Promise.all(
    keys.map((key) => api.call('PATCH', path, { body: { metadata: { [key]: true } } })),
  );
  expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
  expect(Object.keys((await api.call('GET', path)).body[name].metadata).sort()).toEqual(keys.sort());
});

describe('/openapi.json', () => {
  test.each<[string, object]>([
    ['/v1/geofences', { ...fence, tag: 'a', externalId: 'never made' }],
    ['/v1/beacons', { ...beacon, minor: '7' }],
    ['/v1/webhooks', { url: 'https://receiver.example/' }],
    ['/v1/map-styles', { style }],
    ['/v1/map-markers', { image: Buffer.from('png').toString('base64') }],
  ])('a creation at %s honours If-Match', async (path, body) => {
    expect((await api.call('POST', path, { body, headers: { 'if-match': '"r0"' } })).status).toBe(412);
  });

  test('removing a replaced secret of a webhook honours If-Match', async () => {
    const path = await posted('/v1/webhooks', { url: 'https://receiver.example/' }, 'webhook');
    const { webhook } = (await api.call('POST', `${path}/secrets`, { body: {} })).body;
    const replaced = `${path}/secrets/${webhook.secrets[1]._id}`;
    expect((await api.call('DELETE', replaced, { headers: { 'if-match': '"r0"' } })).status).toBe(412);
    expect((await api.call('DELETE', replaced)).etag).toMatch(/^"r\d+"$/);
  });

  test('a geofence whose externalId is "users" is read with its revision', async () => {
    const path = '/v1/geofences/pair/users';
    const { etag } = await api.call('PUT', path, { body: fence });
    expect((await api.call('GET', path)).etag).toBe(etag);
  });

  // After the tests above, which use every route that knows revisions.
  test('declares ETag and If-Match at every route that uses them, and at no other', async () => {
    const { project } = (await api.call('POST', '/v1/projects', { ...asAdministrator, body: { name: 'Declared' } }))
      .body;
    const plan = { ...asAdministrator, body: { plan: 'basic' } };
    await api.call('PUT', `/v1/projects/${project._id}/plan`, plan);
    const stale = { ...plan, headers: { 'if-match': '"r0"' } };
    expect((await api.call('PUT', `/v1/projects/${project._id}/plan`, stale)).status).toBe(412);
    const deletion = `/v1/projects/${project._id}?name=Declared`;
    expect((await api.call('DELETE', deletion, { ...asAdministrator, headers: stale.headers })).status).toBe(412);
    const map = '/maps/static?width=600&height=400&zoom=3&center=10,50';
    const style = 'svc-dark-v1';
    const files = [`styles/${style}`, 'tiles/basemap/0/0/0', 'glyphs/Noto/0-255.pbf', `sprites/${style}.png`];
    for (const url of [map, ...files.map((file) => `/maps/${file}`)]) {
      const { headers } = await api.app.inject({ url, headers: { authorization: api.secret } });
      expect(headers.etag).toBeDefined();
    }
    expect([...api.entityTagUses].sort()).toEqual([...api.declaredEntityTagUses].sort());
    expect(api.entityTagUses.size).toBeGreaterThan(30);
  });
});

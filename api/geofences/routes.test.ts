import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { anyCharacter } from '../../testing/any-character.js';
import { useApi } from '../testing/fixtures.js';
import { geofenceId } from './record.js';

const api = await useApi();

const circle = { description: 'Store', type: 'circle', coordinates: [-73.97, 40.78], radius: 100 };
const put = (tag: string, externalId: string, fields: object = {}, key = api.secret) =>
  api.call('PUT', `/v1/geofences/${encodeURIComponent(tag)}/${encodeURIComponent(externalId)}`, {
    key,
    body: { ...circle, ...fields },
  });

describe('one geofence', () => {
  test('is created, answered by id and by pair, replaced, deleted', async () => {
    const created = await api.call('POST', '/v1/geofences', {
      body: {
        ...circle,
        tag: 'one',
        externalId: '1',
        metadata: { a: 1 },
        operatingHours: { mon: [['9:00 AM', '5:00 PM']] },
      },
    });
    expect(created).toMatchObject({
      status: 200,
      body: {
        meta: { code: 200 },
        geofence: {
          _id: geofenceId({ project: api.project.record._id, environment: 'test' }, { tag: 'one', externalId: '1' }),
          live: false,
          type: 'circle',
          geometryCenter: { type: 'Point', coordinates: [-73.97, 40.78] },
          geometryRadius: 100,
          metadata: { a: 1 },
          operatingHours: { Mon: [['09:00', '17:00']] },
          enabled: true,
        },
      },
    });
    const { _id, createdAt, updatedAt } = created.body.geofence;
    expect((await api.call('GET', `/v1/geofences/${_id}`)).body).toEqual(created.body);
    expect((await api.call('GET', '/api/v1/geofences/one/1')).body).toEqual(created.body);
    expect(api.readModel.geofence({ project: api.project.record._id, environment: 'test' }, _id)?.timeZone).toBe(
      'America/New_York',
    );

    const replaced = await api.call('PUT', `/api/v1/geofences/${_id}`, {
      body: { ...circle, description: 'Other', coordinates: [2.35, 48.86] },
    });
    expect(replaced.body.geofence).toMatchObject({ _id, createdAt, description: 'Other', tag: 'one', externalId: '1' });
    expect(replaced.body.geofence.updatedAt > updatedAt).toBe(true);
    expect(replaced.body.geofence).not.toHaveProperty('metadata');
    expect(replaced.body.geofence).not.toHaveProperty('operatingHours');
    expect(api.readModel.geofence({ project: api.project.record._id, environment: 'test' }, _id)?.timeZone).toBe(
      'Europe/Paris',
    );

    expect(await api.call('DELETE', `/v1/geofences/${_id}`)).toMatchObject({
      status: 200,
      body: { meta: { code: 200 } },
    });
    expect((await api.call('GET', `/v1/geofences/${_id}`)).status).toBe(404);
    expect((await api.call('DELETE', '/v1/geofences/one/1')).status).toBe(404);
  });

  test('forms and JSON do the same', async () => {
    const json = await put('forms', 'a', { metadata: { a: 'x' }, enabled: false, userIds: 'u,v', dwellThreshold: 5 });
    const form =
      'description=Store&type=circle&coordinates=[-73.97,40.78]&radius=100&metadata={"a":"x"}' +
      '&enabled=false&userIds=u,v&dwellThreshold=5&ip=';
    const formed = await api.call('PUT', '/v1/geofences/forms/b', { body: form });
    const same = { _id: '', externalId: '', createdAt: '', updatedAt: '' };
    expect({ ...formed.body.geofence, ...same }).toEqual({ ...json.body.geofence, ...same });
    const nested = await api.call('PUT', '/v1/geofences/forms/c', {
      body:
        'description=S&type=circle&coordinates[]=1&coordinates[]=2&radius=10&metadata[k]=v' +
        '&operatingHours[mon][0][]=09:00&operatingHours[mon][0][]=10:00',
    });
    expect(nested.body.geofence).toMatchObject({
      geometryCenter: { coordinates: [1, 2] },
      metadata: { k: 'v' },
      operatingHours: { Mon: [['09:00', '10:00']] },
    });
  });

  test('a pair that exists is updated by a second creation', async () => {
    const body = { ...circle, tag: 'twice', externalId: '1' };
    const first = await api.call('POST', '/v1/geofences', { body });
    const second = await api.call('POST', '/v1/geofences', { body: { ...body, enabled: false } });
    expect(second.body.geofence).toMatchObject({
      _id: first.body.geofence._id,
      createdAt: first.body.geofence.createdAt,
      enabled: false,
    });
  });

  test('many at once on one pair: one record, one time of creation', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => put('race', '1', { description: `${index}` })),
    );
    expect(new Set(answers.map(({ body }) => body.geofence.createdAt)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.geofence.updatedAt)).size).toBe(20);
  });

  test('pairs with every kind of character', async () => {
    const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 }).filter((value) => value.trim() !== '');
    await fc.assert(
      fc.asyncProperty(text, text, async (tag, externalId) => {
        const { body } = await api.call('POST', '/v1/geofences', { body: { ...circle, tag, externalId } });
        expect(body.geofence).toMatchObject({ tag, externalId });
        const query = `tag=${encodeURIComponent(tag)}&externalId=${encodeURIComponent(externalId)}`;
        expect((await api.call('GET', `/v1/geofences?${query}`)).body.geofences).toEqual([body.geofence]);
        // In a path, segments of only dots mean steps between folders.
        if (/^\.+$/.test(tag) || /^\.+$/.test(externalId)) return;
        const path = `/v1/geofences/${encodeURIComponent(tag)}/${encodeURIComponent(externalId)}`;
        expect((await api.call('GET', path)).body).toEqual(body);
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  test('an update by id keeps the pair', async () => {
    const { _id } = (await put('keep', '1')).body.geofence;
    expect(
      (await api.call('PUT', `/v1/geofences/${_id}`, { body: { ...circle, tag: 'keep', externalId: '1' } })).status,
    ).toBe(200);
    expect(await api.call('PUT', `/v1/geofences/${_id}`, { body: { ...circle, tag: 'other' } })).toMatchObject({
      status: 409,
      body: { meta: { code: 409, type: 'conflict', param: 'tag' } },
    });
    expect((await api.call('PUT', `/v1/geofences/${'0'.repeat(24)}`, { body: circle })).status).toBe(404);
  });

  test('the externalId "users" of a tag that is not an id', async () => {
    await put('plain', 'users');
    expect((await api.call('GET', '/v1/geofences/plain/users')).body.geofence).toMatchObject({
      tag: 'plain',
      externalId: 'users',
    });
    expect((await api.call('GET', `/v1/geofences/${'0'.repeat(24)}/users`)).status).toBe(404);
    expect((await api.call('GET', '/v1/geofences/no/such/users')).status).toBe(404);
  });

  test('past its disableAfter it shows as disabled, past its deleteAfter it is gone', async () => {
    expect((await put('expiry', '1', { disableAfter: '2020-01-01' })).body.geofence.enabled).toBe(false);
    await put('expiry', '2', { deleteAfter: '2020-01-01' });
    expect((await api.call('GET', '/v1/geofences/expiry/2')).status).toBe(404);
    expect((await api.call('GET', '/v1/geofences?tag=expiry')).body.geofences).toHaveLength(1);
  });

  // An edit with a new createdAt is another geofence to the devices inside: late locations that left made no exit.
  test('an edit past its deleteAfter does not make another geofence of it', async () => {
    const edit = async (fields: object) => (await put('expired', '1', fields)).body.geofence.createdAt;
    const createdAt = await edit({ deleteAfter: '2020-01-01' });
    expect(await edit({ deleteAfter: '2020-01-01', radius: 200 })).toBe(createdAt);
    const path = '/v1/geofences/expired/1';
    const body = { ...circle, deleteAfter: '2020-01-01' };
    expect(await api.call('PUT', path, { body, headers: { 'if-match': '*' } })).toMatchObject({ status: 412 });
    expect(await edit({})).not.toBe(createdAt);
  });
});

describe('refusals', () => {
  test.each([
    ['no fields', {}, 400, { type: 'invalid_parameter', param: 'description' }],
    [
      'an isochrone without road data',
      { ...circle, tag: 't', externalId: 'e', type: 'isochrone', radius: 15, mode: 'car' },
      400,
      { type: 'not_available', param: 'type' },
    ],
    ['a radius of 9', { ...circle, tag: 't', externalId: 'e', radius: 9 }, 400, { param: 'radius' }],
    ['a list', [1], 400, { type: 'invalid_body' }],
    [
      'broken JSON in a form',
      'description=x&type=circle&tag=t&externalId=e&coordinates=[1,',
      400,
      { param: 'coordinates' },
    ],
    ['too long a tag', { ...circle, tag: 'x'.repeat(257), externalId: 'e' }, 400, { param: 'tag' }],
    ['2 MB', { ...circle, description: 'x'.repeat(2_000_000) }, 413, { type: 'body_too_large' }],
  ])('%s', async (_, body, status, meta) => {
    expect(await api.call('POST', '/v1/geofences', { body: body as object })).toMatchObject({ status, body: { meta } });
  });

  test('a wrong method and broken JSON', async () => {
    expect((await api.call('DELETE', '/v1/geofences')).status).toBe(405);
    const headers = { authorization: api.secret, 'content-type': 'application/json' };
    const broken = await api.app.inject({ method: 'POST', url: '/v1/geofences', headers, payload: '{"a":' });
    expect(broken.statusCode).toBe(400);
    expect(broken.json().meta.type).toBe('invalid_body');
  });
});

describe('authority', () => {
  test('no key, a wrong key, a publishable key, the admin API key', async () => {
    for (const url of [
      '/v1/geofences',
      '/v1/geofences/a/b',
      '/v1/beacons',
      '/v1/settings',
      '/v1/users',
      '/v1/events',
    ]) {
      expect((await api.call('GET', url, { key: '' })).status).toBe(401);
      expect((await api.call('GET', url, { key: 'prj_test_sk_wrong' })).status).toBe(401);
      expect((await api.call('GET', url, { key: api.project.key('test', 'publishable') })).status).toBe(403);
      expect((await api.call('GET', url, { key: 'administrator-for-tests' })).status).toBe(403);
    }
  });

  test('Test, Live and other projects are separate', async () => {
    const live = api.project.key('live', 'secret');
    const other = (await api.newProject('Other')).key('test', 'secret');
    const { _id } = (await put('apart', '1')).body.geofence;
    for (const key of [live, other]) {
      expect((await api.call('GET', `/v1/geofences/${_id}`, { key })).status).toBe(404);
      expect((await api.call('GET', '/v1/geofences/apart/1', { key })).status).toBe(404);
      expect((await api.call('PUT', `/v1/geofences/${_id}`, { key, body: circle })).status).toBe(404);
      expect((await api.call('DELETE', `/v1/geofences/${_id}`, { key })).status).toBe(404);
      expect((await api.call('GET', '/v1/geofences?tag=apart', { key })).body.geofences).toEqual([]);
    }
    const made = await put('apart', '1', {}, live);
    expect(made.body.geofence.live).toBe(true);
    expect(made.body.geofence._id).not.toBe(_id);
  });
});

describe('lists', () => {
  test('pages by updatedBefore lose and repeat nothing, with any filter', async () => {
    const { record, key } = await api.newProject('Lists');
    const secret = key('test', 'secret');
    const step = fc.record({
      tag: fc.constantFrom('a', 'b'),
      externalId: fc.nat(12),
      deleted: fc.boolean(),
      even: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.integer({ min: 1, max: 7 }), async (steps, limit) => {
        const model = new Map<string, { tag: string; even: boolean }>();
        const all = (await api.call('GET', '/v1/geofences?limit=1000', { key: secret })).body.geofences;
        for (const { _id } of all) await api.call('DELETE', `/v1/geofences/${_id}`, { key: secret });
        for (const { tag, externalId, deleted, even } of steps) {
          const name = `${tag}/${externalId}`;
          model.delete(name);
          if (deleted) await api.call('DELETE', `/v1/geofences/${name}`, { key: secret });
          else await put(tag, `${externalId}`, { metadata: { even } }, secret);
          if (!deleted) model.set(name, { tag, even });
        }
        for (const [filter, keep] of [
          ['', () => true],
          ['&tag=a', ({ tag }: { tag: string }) => tag === 'a'],
          ['&metadata[even]=true', ({ even }: { even: boolean }) => even],
        ] as const) {
          const names: string[] = [];
          let before = '';
          for (;;) {
            const { body } = await api.call('GET', `/v1/geofences?limit=${limit}${filter}${before}`, { key: secret });
            names.push(
              ...body.geofences.map((item: { tag: string; externalId: string }) => `${item.tag}/${item.externalId}`),
            );
            if (!body.meta.hasMore) break;
            before = `&updatedBefore=${body.geofences.at(-1).updatedAt}`;
          }
          expect(names).toEqual(
            [...model]
              .filter(([, item]) => keep(item))
              .map(([name]) => name)
              .reverse(),
          );
        }
      }),
      { numRuns: 8 },
    );
    expect(record.name).toBe('Lists');
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=x', 'limit'],
    ['updatedBefore=soon', 'updatedBefore'],
    ['createdAfter=2029-02-30', 'createdAfter'],
  ])('%s is refused', async (query, param) => {
    expect(await api.call('GET', `/v1/geofences?${query}`)).toMatchObject({ status: 400, body: { meta: { param } } });
  });

  test('times before 1970 and after everything', async () => {
    expect((await api.call('GET', '/v1/geofences?updatedBefore=1900-01-01')).body.geofences).toEqual([]);
    expect((await api.call('GET', '/v1/geofences?createdAfter=1900-01-01&limit=1')).body.geofences).toHaveLength(1);
    expect((await api.call('GET', '/v1/geofences?updatedAfter=9999-12-31')).body.geofences).toEqual([]);
  });
});

test('every change was applied', () => expect(api.problems).toEqual([]));

import { expect, test } from 'vitest';
import { useApi } from '../testing/fixtures.js';

const api = await useApi();

const ibeacon = {
  description: 'Register',
  type: 'ibeacon',
  uuid: 'A7F2B4C0-1111-2222-3333-444455556666',
  major: 1,
  minor: '02',
  coordinates: [-73.97, 40.78],
};

test('with a pair: created, answered, updated, deleted', async () => {
  const created = await api.call('POST', '/api/v1/beacons', {
    body: { ...ibeacon, tag: 't', externalId: '1', metadata: { a: true } },
  });
  expect(created.body.beacon).toMatchObject({
    live: false,
    type: 'ibeacon',
    uuid: 'a7f2b4c0-1111-2222-3333-444455556666',
    major: '1',
    minor: '2',
    geometry: { type: 'Point', coordinates: [-73.97, 40.78] },
    enabled: true,
    metadata: { a: true },
  });
  const { _id, createdAt } = created.body.beacon;
  expect((await api.call('GET', '/v1/beacons/t/1')).body).toEqual(created.body);
  const form =
    'description=Other&type=eddystone&uid=00112233445566778899&instance=0000000000ab&coordinates=[1,2]&enabled=false';
  const updated = await api.call('PUT', '/v1/beacons/t/1', { body: form });
  expect(updated.body.beacon).toMatchObject({
    _id,
    createdAt,
    description: 'Other',
    instance: '0000000000ab',
    enabled: false,
  });
  expect(updated.body.beacon).not.toHaveProperty('metadata');
  expect((await api.call('DELETE', '/v1/beacons/t/1')).body).toEqual({ meta: { code: 200 } });
  expect((await api.call('GET', `/v1/beacons/${_id}`)).status).toBe(404);
});

test('without a pair: each creation is another beacon, updated by id', async () => {
  const [one, other] = [
    await api.call('POST', '/v1/beacons', { body: ibeacon }),
    await api.call('POST', '/v1/beacons', { body: ibeacon }),
  ];
  expect(one.body.beacon._id).not.toBe(other.body.beacon._id);
  expect(one.body.beacon).not.toHaveProperty('tag');
  const { _id, createdAt } = one.body.beacon;
  const updated = await api.call('PUT', `/v1/beacons/${_id}`, { body: { ...ibeacon, description: 'Other' } });
  expect(updated.body.beacon).toMatchObject({ _id, createdAt, description: 'Other' });
  expect((await api.call('PUT', `/v1/beacons/${_id}`, { body: { ...ibeacon, tag: 'new' } })).body.meta).toMatchObject({
    code: 409,
    param: 'tag',
  });
  expect((await api.call('DELETE', `/v1/beacons/${_id}`)).status).toBe(200);
});

// Each of them made another beacon without a tag or without an externalId, so a repetition was not an update.
test.each([
  ['tag/', 'externalId'],
  ['/id', 'tag'],
  ['%20/id', 'tag'],
])('a PUT to %s is refused, because its path leaves out the %s', async (pair, param) => {
  expect(await api.call('PUT', `/v1/beacons/${pair}`, { body: ibeacon })).toMatchObject({
    status: 400,
    body: { meta: { type: 'invalid_parameter', param } },
  });
});

test('lists are ordered by creation, not by update', async () => {
  const { key } = await api.newProject('Beacon lists');
  const secret = key('live', 'secret');
  const write = (id: string) => api.call('PUT', `/v1/beacons/list/${id}`, { key: secret, body: ibeacon });
  for (const id of ['a', 'b', 'c', 'd', 'a']) await write(id);
  const ids: string[] = [];
  let before = '';
  for (;;) {
    const { body } = await api.call('GET', `/v1/beacons?limit=2${before}`, { key: secret });
    ids.push(...body.beacons.map((item: { externalId: string }) => item.externalId));
    if (!body.meta.hasMore) break;
    before = `&createdBefore=${body.beacons.at(-1).createdAt}`;
  }
  expect(ids).toEqual(['d', 'c', 'b', 'a']);
  expect((await api.call('GET', '/v1/beacons?tag=list&externalId=b', { key: secret })).body.beacons).toHaveLength(1);
  expect((await api.call('GET', '/v1/beacons', { key: key('test', 'secret') })).body.beacons).toEqual([]);
});

test('a bad field is named', async () => {
  expect(await api.call('POST', '/v1/beacons', { body: { ...ibeacon, major: 70_000 } })).toMatchObject({
    status: 400,
    body: { meta: { type: 'invalid_parameter', param: 'major' } },
  });
});

test('every change was applied', () => expect(api.problems).toEqual([]));

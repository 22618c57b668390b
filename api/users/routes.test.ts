import { expect, test } from 'vitest';
import { deriveId } from '../../schemas/ids.js';
import type { Outcome } from '../../schemas/records.js';
import { exampleLocation, exampleOutcome } from '../../schemas/testing/examples.js';
import { userRows } from '../../schemas/testing/rows.js';
import { useAnalytics, useApi } from '../testing/fixtures.js';

const analytics = await useAnalytics();
const api = await useApi({ analytics });

const startMs = Date.UTC(2026, 0, 1);
const circle = { description: 'Store', type: 'circle', coordinates: [1, 2], radius: 100 };
const beaconFields = {
  description: 'B',
  type: 'ibeacon',
  uuid: '0'.repeat(32),
  major: 1,
  minor: 1,
  coordinates: [1, 2],
};

interface Update {
  readonly name: string;
  readonly time: number;
  /** Default: of the name. */
  readonly deviceId?: string;
  readonly receivedAt?: number;
  readonly geofences?: string[];
  readonly beacons?: string[];
}

/** The stored user after a location; times are ms after the start. */
const outcomeOf = ({ name, time, geofences = [], beacons = [], ...fields }: Update): Outcome =>
  exampleOutcome({
    location: exampleLocation({
      id: deriveId('location', name, `${time}`),
      project: api.project.record._id,
      deviceId: fields.deviceId ?? `device ${name}`,
      userId: `user ${name}`,
      latitude: 2,
      longitude: 1,
      accuracy_m: 5,
      occurredAt: startMs + time,
      receivedAt: startMs + (fields.receivedAt ?? time + 10),
      ip: '8.8.8.8',
    }),
    user: deriveId('user', name),
    userCreatedAt: startMs,
    profile: '{"deviceType":"iOS"}',
    geofences,
    beacons,
  });

const store = (...updates: Update[]) => analytics.insert('users', userRows(updates.map(outcomeOf)));
const put = async (id: string, fields: object = {}) =>
  (await api.call('PUT', `/v1/geofences/store/${id}`, { body: { ...circle, ...fields } })).body.geofence._id as string;
const idsOf = (items: { _id: string }[]) => items.map(({ _id }) => _id);

test('lists a geofence that expired after the last location of a user, because there was no exit', async () => {
  const [before, after] = [await put('before'), await put('after')];
  await store({ name: 'expiring', time: 5, geofences: [before, after], beacons: [] });
  await put('before', { disableAfter: '2026-01-01T00:00:00.004Z' });
  await put('after', { disableAfter: '2026-01-01T00:00:00.005Z' });
  const { body } = await api.call('GET', `/v1/users/${deriveId('user', 'expiring')}`);
  expect(idsOf(body.user.geofences)).toEqual([after]);
  const inside = async (id: string) => idsOf((await api.call('GET', `/v1/geofences/${id}/users`)).body.users);
  expect(await inside(after)).toEqual([deriveId('user', 'expiring')]);
  expect(await inside(before)).toEqual([]);
});

test('lists a geofence and its users no longer when its userIds name only others', async () => {
  const shared = await put('shared');
  const listed = async (name: string) =>
    idsOf((await api.call('GET', `/v1/users/${deriveId('user', name)}`)).body.user.geofences);
  const inside = async () => idsOf((await api.call('GET', `/v1/geofences/${shared}/users`)).body.users);
  await store({ name: 'ann', time: 7, geofences: [shared] }, { name: 'eve', time: 8, geofences: [shared] });
  expect([await listed('ann'), await listed('eve')]).toEqual([[shared], [shared]]);
  await put('shared', { userIds: 'user ann,user zoe' });
  expect([await listed('ann'), await listed('eve')]).toEqual([[shared], []]);
  expect(await inside()).toEqual([deriveId('user', 'ann')]);
});

test('finds the last updated user by _id, userId and deviceId, with what is still monitored', async () => {
  const [kept, disabled, expired, deleted] = [
    await put('kept'),
    await put('off'),
    await put('late'),
    await put('gone'),
  ];
  const beacon = (await api.call('PUT', '/v1/beacons/b/1', { body: beaconFields })).body.beacon._id;
  const off = (await api.call('PUT', '/v1/beacons/b/2', { body: { ...beaconFields, enabled: false } })).body.beacon._id;
  const geofences = [kept, disabled, expired, deleted];
  await store({ name: 'a', time: 0 }, { name: 'a', time: 5, geofences, beacons: [beacon, off] });
  await put('off', { enabled: false });
  await put('late', { disableAfter: '2020-01-01' });
  await api.call('DELETE', `/v1/geofences/${deleted}`);

  const { body } = await api.call('GET', `/v1/users/${deriveId('user', 'a')}`);
  expect(body.user).toMatchObject({
    _id: deriveId('user', 'a'),
    live: false,
    userId: 'user a',
    deviceId: 'device a',
    deviceType: 'iOS',
    location: { type: 'Point', coordinates: [1, 2] },
    locationAccuracy: 5,
    updatedAt: '2026-01-01T00:00:00.005Z',
    actualUpdatedAt: '2026-01-01T00:00:00.015Z',
    ip: '8.8.8.8',
  });
  expect(idsOf(body.user.geofences)).toEqual([kept]);
  expect(idsOf(body.user.beacons)).toEqual([beacon]);
  expect((await api.call('GET', '/v1/users/user%20a')).body).toEqual(body);
  expect((await api.call('GET', '/api/v1/users/device%20a')).body).toEqual(body);
  expect((await api.call('GET', '/v1/users/nobody')).status).toBe(404);
  expect((await api.call('GET', '/v1/users/user%20a', { key: api.project.key('live', 'secret') })).status).toBe(404);

  const inside = async (id: string) => (await api.call('GET', `/v1/geofences/store/${id}/users`)).body.users;
  expect(idsOf(await inside('kept'))).toEqual([deriveId('user', 'a')]);
  expect(await inside('off')).toEqual([]);
  expect(await inside('late')).toEqual([]);
  expect(idsOf((await api.call('GET', `/v1/geofences/${kept}/users`)).body.users)).toEqual([deriveId('user', 'a')]);
  expect((await api.call('GET', `/v1/geofences/${deleted}/users`)).status).toBe(404);
  await store({ name: 'a', time: 6 });
  expect(await inside('kept')).toEqual([]);
});

test('regression: a user who logged out stayed inside the geofence, wherever the device went', async () => {
  const left = await put('left');
  const inside = async () => idsOf((await api.call('GET', `/v1/geofences/${left}/users`)).body.users);
  const deviceId = 'shared';
  await store({ name: 'bob', time: 10, deviceId, geofences: [left] });
  expect(await inside()).toEqual([deriveId('user', 'bob')]);
  await store({ name: 'nobody', time: 20, deviceId, geofences: [left] });
  expect(await inside()).toEqual([deriveId('user', 'nobody')]);
  await store({ name: 'nobody', time: 30, deviceId });
  expect(await inside()).toEqual([]);
});

test('regression: of the rows of one upload, an older one could be the last position', async () => {
  const deviceId = 'upload';
  const receivedAt = 90_000;
  for (const time of [100, 200]) await store({ name: 'late', time, deviceId, receivedAt });
  const { positions } = (await api.call('GET', '/v1/positions')).body;
  const shown = positions.filter((position: { deviceId: string }) => position.deviceId === deviceId);
  expect(shown).toMatchObject([{ at: '2026-01-01T00:00:00.200Z' }]);
});

test('pages by cursor, last updated first, without losing users of the same millisecond', async () => {
  const names = Array.from({ length: 13 }, (_, index) => `p${index}`);
  await store(...names.map((name, index) => ({ name, time: 1_000 + (index % 3) })));
  const expected = names
    .map((name, index) => ({ id: deriveId('user', name), time: index % 3 }))
    .sort((one, other) => other.time - one.time || (one.id < other.id ? 1 : -1))
    .map(({ id }) => id);
  const found: string[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await api.call('GET', `/v1/users?limit=4&updatedAfter=2026-01-01T00:00:00.999Z${cursor}`);
    found.push(...idsOf(body.users));
    if (!body.meta.hasMore) break;
    cursor = `&cursor=${body.meta.cursor}`;
  }
  expect(found).toEqual(expected);
  // Users of one time that a page had cut off were lost.
  const byTime: string[] = [];
  for (let bound = ''; ; ) {
    const { body } = await api.call('GET', `/v1/users?limit=4&updatedAfter=2026-01-01T00:00:00.999Z${bound}`);
    byTime.push(...idsOf(body.users));
    if (!body.meta.hasMore) break;
    bound = `&updatedBefore=${body.users.at(-1).updatedAt}`;
  }
  expect(byTime).toEqual(expected);
  const before = await api.call(
    'GET',
    '/v1/users?updatedBefore=2026-01-01T00:00:01.001Z&updatedAfter=2026-01-01T00:00:00.999Z',
  );
  expect(before.body.users).toHaveLength(5);
});

import { expect, onTestFinished, test } from 'vitest';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { exampleLocation } from '../../schemas/testing/examples.js';
import { openReadModel } from '../catalog/store/read-model.js';
import { geofenceRecord, scope, temporaryFolder } from '../catalog/testing/fixtures.js';
import { userOf } from './user.js';

const nowMs = 2_000_000;
const shop = geofenceRecord();
const visit = { id: shop._id, since: 1_500, dwelled: false, generation: shop.createdAt };
const state = {
  id: 'u',
  userId: null,
  createdAt: 1_500,
  profile: null,
  geofences: [visit],
  beacons: [],
  last: { ...exampleLocation({ occurredAt: nowMs }), beacons: null },
};

test('a user is shown in a closed geofence, not in one that is disabled, expired, for others or new', async () => {
  const readModel = openReadModel(temporaryFolder());
  onTestFinished(() => readModel.close());
  let offset = 0;
  async function shown(fields: Partial<GeofenceRecord>, userId: string | null = null): Promise<string[] | undefined> {
    await readModel.apply([{ kind: 'geofence', id: shop._id, record: { ...shop, ...fields } }], ++offset);
    return userOf({ ...state, userId }, { ...scope, deviceId: 'phone' }, readModel)?.geofences.map(({ _id }) => _id);
  }
  expect(await shown({})).toEqual([shop._id]);
  expect(await shown({ enabled: false })).toEqual([]);
  expect(await shown({ disableAfter: nowMs - 1 })).toEqual([]);
  expect(await shown({ deleteAfter: nowMs - 1 })).toEqual([]);
  expect(await shown({ disableAfter: nowMs, deleteAfter: nowMs })).toEqual([shop._id]);
  expect(await shown({ createdAt: shop.createdAt + 1 })).toEqual([]);
  expect(await shown({ userIds: ['ann'] })).toEqual([]);
  expect(await shown({ userIds: ['ann'] }, 'bob')).toEqual([]);
  expect(await shown({ userIds: ['ann'] }, 'ann')).toEqual([shop._id]);
  expect(await shown({ operatingHours: {} })).toEqual([shop._id]);
  await readModel.apply([{ kind: 'geofence', id: shop._id, record: null }], ++offset);
  expect(userOf(state, { ...scope, deviceId: 'phone' }, readModel)?.geofences).toEqual([]);
});

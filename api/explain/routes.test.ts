import { expect, test } from 'vitest';
import type { SpatialQueries } from '../../pipeline/catalog/types.js';
import type { DeviceState } from '../../schemas/records.js';
import { useApi } from '../testing/fixtures.js';

const nowMs = Date.UTC(2029, 0, 1);
const asked: Parameters<SpatialQueries['explain']>[0][] = [];
const unasked = async () => [];
const nothingNear = {
  evaluatedAt: '2029-01-01T00:00:00.000Z',
  evaluation: { result: 'applied', transitions: [] },
  fences: [],
};
const stored: DeviceState = { users: [], locationMs: null };

const api = await useApi({
  clock: () => nowMs,
  states: async (_, deviceId) => (deviceId === 'known' ? stored : undefined),
  spatial: {
    context: unasked,
    searchGeofences: unasked,
    searchBeacons: unasked,
    explain: async (question) => {
      asked.push(question);
      return nothingNear;
    },
  },
});

const location = { latitude: 40.78, longitude: -73.97, accuracy: 10 };
const explain = async (body: object) => {
  const answer = await api.call('POST', '/v1/explain', { body });
  return { ...answer, question: asked.at(-1) };
};

test('a location alone', async () => {
  const { status, body, question } = await explain({ location: { ...location, ip: '8.8.8.8', foreground: 'true' } });
  expect({ status, body }).toEqual({ status: 200, body: { meta: { code: 200 }, explanation: nothingNear } });
  expect(question).toMatchObject({
    project: api.project.record._id,
    environment: 'test',
    location: {
      latitude: 40.78,
      longitude: -73.97,
      accuracy_m: 10,
      ip: '8.8.8.8',
      foreground: true,
      occurredAt: nowMs,
    },
  });
  expect(question).not.toHaveProperty('state');
});

test('a body of POST /v1/track as it is', async () => {
  const body = { ...location, deviceId: 'known', stopped: true };
  const { question } = await explain(body);
  expect(question).toMatchObject({ location: { latitude: 40.78, deviceId: 'known', stopped: true }, state: stored });
  expect((await explain({ ...body, state: { geofences: ['1'.repeat(24)] } })).question?.state).not.toEqual(stored);
});

test('one geofence', async () => {
  const geofence = '1'.repeat(24);
  expect((await explain({ location, geofence })).question).toMatchObject({ geofence });
  expect((await explain({ location })).question).not.toHaveProperty('geofence');
});

test('a state of ids and of visits', async () => {
  const [one, other] = ['1'.repeat(24), '2'.repeat(24)];
  const { question } = await explain({
    location: { ...location, userId: 'u' },
    state: { geofences: [one, { _id: other, since: '2028-12-31' }], beacons: [one] },
  });
  expect(question?.state).toMatchObject({
    users: [
      {
        userId: 'u',
        geofences: [
          { id: other, since: nowMs - 86_400_000, dwelled: false, generation: null },
          { id: one, since: nowMs, dwelled: false, generation: null },
        ],
        beacons: [{ id: one, since: nowMs, dwelled: false, generation: null }],
      },
    ],
  });
});

test('the stored state where the body names a device and no state', async () => {
  expect((await explain({ location: { ...location, deviceId: 'known' } })).question?.state).toBe(stored);
  expect((await explain({ location: { ...location, deviceId: 'new' } })).question).not.toHaveProperty('state');
  expect((await explain({ location: { ...location, deviceId: 'known' }, state: {} })).question?.state).not.toBe(stored);
});

test.each([
  [{}, 'latitude'],
  [{ location: 'here' }, 'location'],
  [{ location: null }, 'location'],
  [{ location: { ...location, latitude: 91 } }, 'latitude'],
  [{ location: { ...location, ip: 'x' } }, 'ip'],
  [{ location, geofence: 'shop/1' }, 'geofence'],
  [{ location, state: 'x' }, 'state'],
  [{ location, state: { geofences: ['x'] } }, 'state.geofences'],
  [{ location, state: { beacons: [{ _id: '1'.repeat(24), since: 'then' }] } }, 'state.beacons'],
])('%j is refused', async (body, param) => {
  expect(await explain(body)).toMatchObject({ status: 400, body: { meta: { param } } });
});

/** Track calls over HTTP. */
import { beforeAll, describe, expect, it } from 'vitest';
import { minuteMs } from '../../schemas/durations.js';
import { until } from '../../testing/until.js';
import type { Client, Json } from '../support/client.js';
import { ok, trackDefaults } from '../support/client.js';
import { circle, eventTypesOf, square, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
let device: Client;
let backend: Client;
let devices = 0;

beforeAll(async () => {
  server = await SharedServer.newProject();
  device = server.as('test_publishable');
  backend = server.as('test_secret');
  await backend.put('/v1/settings', { dwellEvents: true });
  await backend.putGeofence('circle', { ...circle(0, 0, 100), dwellThreshold: 10, metadata: { floor: 2 } });
  await backend.putGeofence('square', square(0, 0, 200));
  await backend.putGeofence('stop', { ...circle(2_000, 0, 100), stopDetection: true });
});

const newDevice = () => `device-${++devices}`;
const coordinatesOf = ({ latitude, longitude }: ReturnType<typeof standing>) => `${latitude},${longitude}`;
const externalIdsOf = (geofences: Json) => geofences.map((geofence: Json) => geofence.externalId).sort();

// A user inside a thousand geofences with 64 kB of metadata had 66 MB in each answer. Forty of them ended the process.
it('an answer with much metadata has every event and geofence, and leaves metadata out', async () => {
  const metadata = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`key${i}`, 'x'.repeat(4_000)]));
  const ids = Array.from({ length: 80 }, (_, i) => `large-${i}`).sort();
  for (const externalId of ids) await backend.putGeofence(externalId, { ...circle(40_000, 0, 100), metadata });
  const deviceId = newDevice();
  const { events, user } = await device.track({ deviceId, ...standing(40_000, 0) });
  const entered = events.map(({ geofence }: Json) => geofence);
  for (const geofences of [entered, user.geofences]) {
    expect(externalIdsOf(geofences)).toEqual(ids);
    expect(geofences.filter((geofence: Json) => geofence.metadata !== undefined)).toHaveLength(8);
  }
  expect(events.filter((event: Json) => event.metadataOmitted)).toHaveLength(72);
  expect(user.geofences.filter((geofence: Json) => geofence.metadataOmitted)).toHaveLength(72);
  expect(JSON.stringify({ events, user }).length).toBeLessThan(1_200_000);
  const { geofences } = ok(await device.get(`/v1/context?coordinates=${coordinatesOf(standing(40_000, 0))}`));
  expect(externalIdsOf(geofences)).toEqual(ids);
  expect(geofences.filter((geofence: Json) => geofence.metadataOmitted)).toHaveLength(72);
  // The events themselves have 4 MiB.
  const stored = await until(async () => {
    const { body } = await backend.get(`/v1/events?deviceId=${deviceId}&limit=1000`);
    return body.events.length === 80 && body.events;
  });
  expect(stored.filter((event: Json) => event.geofence.metadata !== undefined)).toHaveLength(69);
  expect(stored.filter((event: Json) => event.metadataOmitted)).toHaveLength(11);
});

/** Regression: a house where every inhabitant has a geofence hid the user's own behind those of ten neighbours. */
describe('geofences of other users', () => {
  const eastM = 20_000;
  beforeAll(async () => {
    const own = { externalId: 'own', eastM: eastM + 50, userIds: 'ann' };
    const others = Array.from({ length: 10 }, (_, index) => ({
      externalId: `of-${index}`,
      eastM,
      userIds: `neighbour-${index}`,
    }));
    const elsewhere = { externalId: 'network', eastM, ip: '192.0.2.0/24' };
    for (const { externalId, eastM, ...whose } of [own, ...others, elsewhere]) {
      await backend.putGeofence(externalId, { ...circle(eastM, 0, 100), ...whose });
    }
  });

  it('are not among those to sync', async () => {
    const report = { deviceId: newDevice(), ...standing(eastM, 0), nearbyGeofences: true };
    const nearbyTo = async (fields: object) =>
      externalIdsOf((await device.track({ ...report, ...fields })).nearbyGeofences);
    expect(await nearbyTo({ userId: 'ann' })).toEqual(['network', 'own']);
    expect(await nearbyTo({ userId: 'neighbour-3' })).toEqual(['network', 'of-3']);
    expect(await nearbyTo({ deviceId: newDevice() })).toEqual(['network']);
  });

  it('are not in a region', async () => {
    const regionOf = async (fields: object) => {
      const { latitude, longitude } = standing(eastM, 0);
      return ok(await device.post('/v1/sync/region', { latitude, longitude, ...fields })).geofences;
    };
    expect(externalIdsOf(await regionOf({ userId: 'ann' }))).toEqual(['network', 'own']);
    expect(externalIdsOf(await regionOf({}))).toEqual(['network']);
  });

  it('are not those of a late location, nor are those of other networks', async () => {
    const report = { deviceId: newDevice(), userId: 'ann', ...standing(eastM, 0) };
    const { user } = await device.track(report);
    expect(externalIdsOf(user.geofences)).toEqual(['own']);
    const late = await device.track({ ...report, updatedAtMsDiff: minuteMs });
    expect(externalIdsOf(late.user.geofences)).toEqual(['own']);
  });
});

describe('a location update', () => {
  it('enters, remains inside, and exits', async () => {
    const deviceId = newDevice();
    const entry = await device.track({ deviceId, ...standing(0, 0) });
    expect(eventTypesOf(entry.events)).toEqual(['user.entered_geofence', 'user.entered_geofence']);
    expect(externalIdsOf(entry.user.geofences)).toEqual(['circle', 'square']);

    const inside = await device.track({ deviceId, ...standing(20, 0) });
    expect(inside.events).toEqual([]);
    expect(externalIdsOf(inside.user.geofences)).toEqual(['circle', 'square']);

    const half = await device.track({ deviceId, ...standing(150, 0) });
    expect(half.events).toHaveLength(1);
    expect(half.events[0]).toMatchObject({
      type: 'user.exited_geofence',
      geofence: { externalId: 'circle', metadata: { floor: 2 } },
    });

    const away = await device.track({ deviceId, ...standing(900, 0) });
    expect(away.events.map((event: Json) => event.geofence.externalId)).toEqual(['square']);
    expect(away.user.geofences).toEqual([]);
  });

  it('reports its confidence', async () => {
    const confidenceAt = async (eastM: number, accuracy: number) => {
      const { events } = await device.track({ deviceId: newDevice(), ...standing(eastM, 0), accuracy });
      return events.find((event: Json) => event.geofence.externalId === 'circle')?.confidence;
    };
    expect(await confidenceAt(0, 50)).toBe(3);
    expect(await confidenceAt(80, 50)).toBe(2);
    expect(await confidenceAt(95, 500)).toBe(1);
    expect(await confidenceAt(120, 50)).toBeUndefined();
  });

  it('is answered in the shape that SDKs decode', async () => {
    const deviceId = newDevice();
    const { meta, user, events } = await device.track({ deviceId, userId: 'ann', ...standing(0, 0), foreground: true });
    expect(meta.code).toBe(200);
    expect(meta.error).toBeUndefined();
    expect(user).toMatchObject({
      deviceId,
      userId: 'ann',
      live: false,
      foreground: true,
      stopped: false,
      locationAccuracy: 5,
    });
    expect(user.location.coordinates).toEqual([standing(0, 0).longitude, standing(0, 0).latitude]);
    for (const item of [user, ...events, ...user.geofences]) expect(item._id).toMatch(/^[0-9a-f]{24}$/);
    for (const time of [
      user.createdAt,
      user.updatedAt,
      user.actualUpdatedAt,
      events[0].createdAt,
      events[0].actualCreatedAt,
    ]) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
  });

  it('reads forms like JSON', async () => {
    const { longitude, latitude } = standing(0, 0);
    const answer = await device.form('POST', '/v1/track', {
      deviceId: newDevice(),
      latitude: String(latitude),
      longitude: String(longitude),
      accuracy: '5',
      foreground: 'true',
      metadata: '{"plan":"gold","visits":3}',
    });
    const { user, events } = ok(answer);
    expect(user).toMatchObject({ foreground: true, metadata: { plan: 'gold', visits: 3 } });
    expect(events).toHaveLength(2);
  });

  it('dwells once per visit, by the time of the locations', async () => {
    const deviceId = newDevice();
    const startMs = Date.now() - 60 * minuteMs;
    const typesAt = async (minutes: number, eastM: number) => {
      const updatedAt = new Date(startMs + minutes * minuteMs).toISOString();
      const { events } = await device.track({ deviceId, ...standing(eastM, 0), updatedAt });
      return events.filter((event: Json) => event.geofence.externalId === 'circle');
    };
    expect(eventTypesOf(await typesAt(0, 0))).toEqual(['user.entered_geofence']);
    expect(await typesAt(10, 1)).toEqual([]);
    const [dwell] = await typesAt(11, 2);
    expect(dwell).toMatchObject({ type: 'user.dwelled_in_geofence', duration: 11 });
    expect(await typesAt(30, 3)).toEqual([]);
    const [exit] = await typesAt(31, 500);
    expect(exit).toMatchObject({ type: 'user.exited_geofence', duration: 31 });
    expect(eventTypesOf(await typesAt(32, 0))).toEqual(['user.entered_geofence']);
  });

  it('enters a geofence with stop detection only when stopped or in the foreground', async () => {
    const moving = newDevice();
    expect((await device.track({ deviceId: moving, ...standing(2_000, 0) })).events).toEqual([]);
    const stopped = await device.track({ deviceId: moving, ...standing(2_000, 0), stopped: true });
    expect(eventTypesOf(stopped.events)).toEqual(['user.entered_geofence']);
    const open = await device.track({ deviceId: newDevice(), ...standing(2_000, 0), foreground: true });
    expect(eventTypesOf(open.events)).toEqual(['user.entered_geofence']);
  });

  it('has no effect when sent again', async () => {
    const report = {
      deviceId: newDevice(),
      ...standing(0, 0),
      updatedAt: new Date(Date.now() - minuteMs).toISOString(),
    };
    const first = await device.track(report);
    const second = await device.track(report);
    expect(first.events).toHaveLength(2);
    expect(second.events).toEqual([]);
    expect(second.user).toMatchObject({ _id: first.user._id, updatedAt: first.user.updatedAt });
    expect(externalIdsOf(second.user.geofences)).toEqual(['circle', 'square']);
  });

  it('has no effect when older than the last one', async () => {
    const deviceId = newDevice();
    const timeAt = (minutesAgo: number) => new Date(Date.now() - minutesAgo * minuteMs).toISOString();
    await device.track({ deviceId, ...standing(0, 0), updatedAt: timeAt(5) });
    const late = await device.track({ deviceId, ...standing(900, 0), updatedAt: timeAt(6) });
    expect(late.events).toEqual([]);
    // A publishable key must not learn where the device went since: these are the geofences at the late location.
    expect(late.user.geofences).toEqual([]);
    const told = await server.as('test_secret').track({ deviceId, ...standing(900, 0), updatedAt: timeAt(7) });
    expect(externalIdsOf(told.user.geofences)).toEqual(['circle', 'square']);
  });

  it('keeps users of the same device apart', async () => {
    const deviceId = newDevice();
    const anonymous = await device.track({ deviceId, ...standing(0, 0) });
    const ann = await device.track({ deviceId, userId: 'first', ...standing(1, 0) });
    const bob = await device.track({ deviceId, userId: 'second', ...standing(2, 0) });
    expect(ann.user._id).toBe(anonymous.user._id);
    expect(ann.events).toEqual([]);
    expect(bob.user._id).not.toBe(ann.user._id);
    expect(bob.events).toHaveLength(2);
  });
});

describe('a replay', () => {
  it('applies its locations in order of device time, marked as replayed', async () => {
    const deviceId = newDevice();
    const fix = (minutesAgo: number, eastM: number) => ({
      deviceId,
      ...trackDefaults,
      ...standing(eastM, 0),
      replayed: true,
      updatedAtMs: Date.now() - minutesAgo * minuteMs,
    });
    const replays = [fix(2, 900), fix(9, 900), fix(8, 0), fix(5, 150)];
    const { events, user } = ok(await device.post('/v1/track/replay', { replays }));
    expect(events.map((event: Json) => `${event.type} ${event.geofence.externalId}`)).toEqual([
      expect.stringMatching(/^user.entered_geofence/),
      expect.stringMatching(/^user.entered_geofence/),
      'user.exited_geofence circle',
      'user.exited_geofence square',
    ]);
    expect(events.every((event: Json) => event.replayed === true)).toBe(true);
    expect(user).toMatchObject({ deviceId, geofences: [] });

    const again = ok(await device.post('/v1/track/replay', { replays }));
    expect(again.events).toEqual([]);
  });

  it('whose last fixes have one time changes nothing when it arrives again', async () => {
    const updatedAtMs = Date.now() - minuteMs;
    const common = { deviceId: newDevice(), ...trackDefaults, replayed: true, updatedAtMs };
    const replays = [0, 900].map((eastM) => ({ ...common, ...standing(eastM, 0) }));
    const { events } = ok(await device.post('/v1/track/replay', { replays }));
    expect(events).toHaveLength(4);
    const again = ok(await device.post('/v1/track/replay', { replays }));
    expect(again.events).toEqual([]);
  });
});

describe('lists', () => {
  it('show the events and the user of a location', async () => {
    const deviceId = newDevice();
    const { events, user } = await device.track({ deviceId, userId: 'listed', ...standing(0, 0) });
    const listed = await until(async () => {
      const { body } = await backend.get(`/v1/events?deviceId=${deviceId}`);
      return body.events.length === 2 && body.events;
    });
    const byId = (a: Json, b: Json) => (a._id < b._id ? -1 : 1);
    expect(listed.sort(byId)).toEqual(events.sort(byId));
    for (const name of [user._id, 'listed', deviceId]) {
      const found = await until(async () => {
        const { status, body } = await backend.get(`/v1/users/${name}`);
        return status === 200 && body.user;
      });
      expect(found).toMatchObject({ _id: user._id, deviceId, geofences: user.geofences });
    }
    const inside = ok(await backend.get('/v1/geofences/test/circle/users?limit=1000')).users;
    expect(inside.map((someone: Json) => someone._id)).toContain(user._id);
  });

  it('filter events by type, user, geofence, tag and time', async () => {
    const deviceId = newDevice();
    const { user } = await device.track({ deviceId, userId: 'filtered', ...standing(0, 0) });
    await device.track({ deviceId, userId: 'filtered', ...standing(900, 0) });
    const count = async (filter: string) =>
      ok(await backend.get(`/v1/events?deviceId=${deviceId}&${filter}`)).events.length;
    await until(async () => (await count('')) === 4);
    const geofence = ok(await backend.get('/v1/geofences/test/circle')).geofence;
    expect(await count('type=user.exited_geofence')).toBe(2);
    expect(await count(`user=${user._id}&geofence=${geofence._id}`)).toBe(2);
    expect(await count('tag=test&externalId=square')).toBe(2);
    expect(await count('tag=other')).toBe(0);
    expect(await count(`createdAfter=${new Date().toISOString()}`)).toBe(0);
    expect(await count(`createdBefore=${new Date(Date.now() + minuteMs).toISOString()}`)).toBe(4);
  });

  it('page without gaps or repeats', async () => {
    const deviceId = newDevice();
    const startMs = Date.now() - 60 * minuteMs;
    const locations = Array.from({ length: 20 }, (_, index) => ({
      deviceId,
      ...trackDefaults,
      ...standing(index % 2 === 0 ? 0 : 900, 0),
      updatedAt: new Date(startMs + index * 1_000).toISOString(),
    }));
    ok(await backend.bulk(locations));
    const all = await until(async () => {
      const { body } = await backend.get(`/v1/events?deviceId=${deviceId}&limit=1000`);
      return body.events.length === 40 && body.events;
    });
    const paged: string[] = [];
    let cursor = '';
    do {
      const { meta, events } = ok(await backend.get(`/v1/events?deviceId=${deviceId}&limit=7${cursor}`));
      paged.push(...events.map((event: Json) => event._id));
      cursor = meta.hasMore ? `&cursor=${meta.cursor}` : '';
    } while (cursor);
    expect(paged).toEqual(all.map((event: Json) => event._id));
  });
});

describe('explain', () => {
  it('names the rule that decided each geofence, and stores nothing', async () => {
    const answer = ok(
      await backend.post('/v1/explain', { deviceId: 'nobody', ...trackDefaults, ...standing(2_000, 0) }),
    );
    expect(JSON.stringify(answer)).toContain('stop');
    const users = ok(await backend.get('/v1/users?limit=1000')).users;
    expect(users.map((user: Json) => user.deviceId)).not.toContain('nobody');
  });
});

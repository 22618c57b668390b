/**
 * Calls as the SDKs for iOS (3.39.1) and Android (3.34.0) write them, by their sources: headers, paths, parameters, and
 * every field of a location with the values that phones send. Answers have what these SDKs need to read.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Answer, type Json, ok, type Sending } from '../support/client.js';
import { at, circle, square, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
  const backend = server.as('test_secret');
  await backend.putGeofence('shop', { ...circle(0, 0, 100), metadata: { open: true } }, 'store');
  await backend.putGeofence('mall', square(0, 0, 500), 'mall');
  const uuid = 'b9407f30-f5f8-466e-aff9-25556b57fe6d';
  await backend.putBeacon('door', { type: 'ibeacon', uuid, major: '1', minor: '2', coordinates: at(0, 0) });
  const eddystone = { type: 'eddystone', uid: '0'.repeat(20), instance: '0'.repeat(12) };
  await backend.putBeacon('lamp', { ...eddystone, coordinates: at(0, 0) });
});

const headersOf = (type: string) => ({
  'x-radar-config': 'true',
  'x-radar-device-make': type === 'iOS' ? 'Apple' : 'Google',
  'x-radar-device-model': 'Phone',
  'x-radar-device-os': '18.1',
  'x-radar-device-type': type,
  'x-radar-sdk-version': type === 'iOS' ? '3.39.1' : '3.34.0',
  'x-radar-mobile-origin': 'com.example.app',
  'x-radar-network-type': 'wifi',
  'x-radar-app-info': '{"name":"App","version":"1.0","build":"1"}',
  'x-radar-x-platform-sdk-type': 'Native',
});

/** What both send with a location. */
const common = (eastM: number) => ({
  anonymous: false,
  installId: 'E7A1C1E0-5C3B-4A53-9D6F-7A3B1E2D4C5F',
  sessionId: '1764111600',
  userId: 'ada',
  description: 'Ada',
  metadata: { plan: 'gold', visits: 3, newsletter: false },
  userTags: ['beta'],
  ...standing(eastM, 0),
  accuracy: 12.5,
  altitude: 41.7,
  locationMs: Date.now(),
  foreground: true,
  stopped: false,
  replayed: false,
  deviceModel: 'Phone',
  deviceOS: '18.1',
  country: 'DE',
  timeZoneOffset: 3_600,
  source: 'FOREGROUND_LOCATION',
  xPlatformType: 'Native',
  nearbyGeofences: true,
  locationAuthorization: 'GRANTED_BACKGROUND',
  locationAccuracyAuthorization: 'FULL',
  trackingOptions: { desiredStoppedUpdateInterval: 0, sync: 'all', replay: 'stops', beacons: false },
  usingRemoteTrackingOptions: false,
  verified: false,
  appId: 'com.example.app',
  appName: 'App',
  appVersion: '1.0',
});

const platforms = {
  iOS: {
    location: (eastM: number) => ({
      ...common(eastM),
      deviceId: '5C2A9F0E-4B1D-4E0A-8C53-1F6B7D2E9A10',
      deviceType: 'iOS',
      deviceMake: 'Apple',
      sdkVersion: '3.39.1',
      // CoreLocation marks what it does not know by -1.
      verticalAccuracy: -1,
      speed: -1,
      speedAccuracy: -1,
      course: -1,
      courseAccuracy: -1,
      floorLevel: 0,
      notificationAuthorization: true,
      motionAuthorization: 'AUTHORIZED',
      appBuild: '1',
      pushNotificationToken: null,
      locationExtensionToken: null,
      notificationDiff: [],
      locationMetadata: { heading: {}, speed: -1, battery: -1, isSimulatedBySoftware: false, pressureHPa: null },
    }),
    config:
      'installId=i&sessionId=1764111600&id=(null)&locationAuthorization=NOT_DETERMINED' +
      '&locationAccuracyAuthorization=FULL&notificationAuthorization=false&usage=initialize&verified=false' +
      '&clientSdkConfiguration=%7B%22logLevel%22:%22error%22%7D',
    beacons: 'near=50.000000,10.000000&radius=1000&limit=10',
    verdict: 1,
    // It has no Eddystone beacons.
    beaconTypes: ['ibeacon'],
  },
  Android: {
    location: (eastM: number) => ({
      ...common(eastM),
      deviceId: 'a1b2c3d4e5f60718',
      deviceType: 'Android',
      deviceMake: 'Google',
      sdkVersion: '3.34.0',
      verticalAccuracy: 3.2,
      speed: 0,
      speedAccuracy: 0.5,
      course: 90,
      courseAccuracy: 20,
      appBuild: 1,
      nearbyGeofencesLimit: 10,
      locationServicesProvider: 'GOOGLE',
      encrypted: false,
      updatedAtMsDiff: 1_200,
      locationMetadata: { motionActivityData: {}, speed: 0, bearing: 90, altitude: 41.7 },
    }),
    config:
      'installId=i&sessionId=1764111600&locationAuthorization=GRANTED_FOREGROUND&locationAccuracyAuthorization=FULL' +
      '&verified=false&usage=resume&clientSdkConfiguration=%7B%22logLevel%22:%22error%22%7D',
    beacons: 'near=50.0,10.0&radius=1000&limit=10&installId=i',
    verdict: 'ACCEPT',
    beaconTypes: ['ibeacon', 'eddystone'],
  },
} as const;

const number = expect.any(Number);
const id = expect.stringMatching(/^[0-9a-f]{24}$/);
const point = { type: 'Point', coordinates: [number, number] };
/** Both read circles and polygons by these fields, and ignore a geofence without them. */
const readableGeofence = expect.objectContaining({
  _id: id,
  type: expect.stringMatching(/^(circle|polygon)$/),
  geometryCenter: point,
  geometryRadius: number,
});
const readableEvent = expect.objectContaining({
  _id: id,
  // The iOS SDK has one format of times, and ignores an event that has another.
  createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  live: false,
  confidence: number,
  location: point,
  locationAccuracy: number,
  geofence: readableGeofence,
});

describe.each(Object.keys(platforms) as (keyof typeof platforms)[])('the SDK for %s', (type) => {
  const { location, config, beacons, beaconTypes, verdict } = platforms[type];
  const send = (method: string, path: string, sending: Sending = {}): Promise<Answer> =>
    server.as('test_publishable').send(method, path, { ...sending, headers: headersOf(type) });
  const post = async (path: string, body: object): Promise<Json> => ok(await send('POST', path, { body }));

  it('reads the settings', async () => {
    const { sdkConfiguration } = ok(await send('GET', `/v1/config?${config}`)).meta;
    expect(sdkConfiguration.logLevel).toBe('error');
  });

  it('enters and exits geofences', async () => {
    const inside = await post('/v1/track', location(0));
    expect(inside.events).toEqual([readableEvent, readableEvent]);
    expect(inside.user).toMatchObject({ _id: id, location: point, userId: 'ada', deviceId: location(0).deviceId });
    expect(inside.user.geofences).toEqual([readableGeofence, readableGeofence]);
    // From now on the SDK sends the id that it has read.
    const outside = await post('/v1/track', { ...location(2_000), id: inside.user._id });
    expect(outside.events.map(({ type }: Json) => type)).toEqual(['user.exited_geofence', 'user.exited_geofence']);
    expect(outside.user._id).toBe(inside.user._id);
  });

  it('sends stored locations later', async () => {
    const { updatedAtMsDiff: _, ...stored } = { updatedAtMsDiff: 0, ...location(0) };
    const replays = [0, 2_000].map((eastM, index) => ({
      ...stored,
      ...standing(eastM, 0),
      deviceId: `stored-${type}`,
      replayed: true,
      updatedAtMs: Date.now() - 60_000 + index * 10_000,
    }));
    const { events } = await post('/v1/track/replay', { replays });
    expect(events).toHaveLength(4);
    expect(events.every(({ replayed }: Json) => replayed)).toBe(true);
  });

  // A location that was refused is lost: the SDK drops what it has sent.
  it('keeps the time of stored locations across a restart, which makes their ages wrong', async () => {
    const updatedAtMs = Date.now() - 60_000;
    const replay = { ...location(0), deviceId: `restarted-${type}`, replayed: true, updatedAtMs };
    const { events } = await post('/v1/track/replay', { replays: [{ ...replay, updatedAtMsDiff: -3 * 86_400_000 }] });
    expect(events).toHaveLength(2);
    for (const { createdAt } of events) expect(Date.parse(createdAt)).toBe(updatedAtMs);
  });

  // After a refusal both send this stop again with each later update, in place of the location of that update.
  it('sends a stop of last month again, which is dropped', async () => {
    const stop = { ...location(0), deviceId: `long-away-${type}`, stopped: true, replayed: true, foreground: false };
    const updatedAtMsDiff = 30 * 86_400_000;
    const { user, events, rejections } = await post('/v1/track', { ...stop, updatedAtMsDiff });
    expect(user).toMatchObject({ _id: id, location: point, deviceId: stop.deviceId });
    expect(events).toEqual([]);
    expect(rejections).toMatchObject([{ index: 0, param: 'updatedAtMsDiff' }]);
    // Nothing was entered, so this location enters.
    expect((await post('/v1/track', { ...location(0), deviceId: stop.deviceId })).events).toHaveLength(2);
  });

  it('sends a replay again after a lost answer, which changes nothing', async () => {
    const replays = [2_000, 0, 2_000].map((eastM, index) => ({
      ...location(eastM),
      deviceId: `again-${type}`,
      replayed: true,
      locationMs: 90_000 + index * 40,
      updatedAtMsDiff: 100 - index * 40,
    }));
    expect((await post('/v1/track/replay', { replays })).events).toHaveLength(4);
    const answeredAt = Date.now();
    // The same ages make later times: the entry is then later than the exit was.
    await until(() => Date.now() > answeredAt + 80);
    expect((await post('/v1/track/replay', { replays })).events).toEqual([]);
  });

  it.each([
    [undefined, 2],
    [10, 2],
    [1, 1],
    [0, 0],
    [-1, 2],
    ['1', 1],
    ['many', 2],
  ])('syncs at most as many nearby geofences as it wants: %s', async (nearbyGeofencesLimit, count) => {
    const wanting = { ...location(0), deviceId: `syncing-${type}-${nearbyGeofencesLimit}`, nearbyGeofencesLimit };
    expect((await post('/v1/track', wanting)).nearbyGeofences).toHaveLength(count);
    const replays = [location(0), wanting].map((item) => ({ ...item, deviceId: `replaying-${wanting.deviceId}` }));
    expect((await post('/v1/track/replay', { replays })).nearbyGeofences).toHaveLength(count);
  });

  it('asks for what is near', async () => {
    const ranged = ok(await send('GET', `/v1/search/beacons?${beacons}`)).beacons;
    expect(ranged.map((beacon: Json) => beacon.type).sort()).toEqual([...beaconTypes].sort());
    const near = 'near=50.000000,10.000000&radius=1000&limit=10&tags=store,mall';
    const { geofences } = ok(await send('GET', `/v1/search/geofences?${near}&includeGeometry=true`));
    expect(geofences).toEqual([readableGeofence, readableGeofence]);
    const filtered = ok(await send('GET', `/v1/search/geofences?${near}&metadata[open]=true&includeGeometry=false`));
    expect(filtered.geofences).toEqual([readableGeofence]);
    expect(ok(await send('GET', '/v1/context?coordinates=50.000000,10.000000')).context.geofences).toHaveLength(2);
  });

  it('finds addresses, as its query strings are written', async () => {
    for (const call of ['search/autocomplete?query=Trinidad & Tobago&limit=null', 'geocode/forward?query=A & B'])
      ok(await send('GET', `/v1/${call.replaceAll(' ', '%20')}`));
  });

  it('reports conversions, logs and the region that it watches', async () => {
    const { id: _, deviceId, userId, installId } = { id: '', ...location(0) };
    const conversion = { deviceId, userId, installId, type: 'bought_ticket', metadata: { price: 12.5 } };
    expect((await post('/v1/events', conversion)).event).toMatchObject({ _id: id });
    const path = `/v1/events/${(await post('/v1/events', conversion)).event._id}/verification`;
    ok(await send('PUT', path, { body: { verification: verdict } }));
    await post('/v1/logs', { logs: [{ level: 'info', message: 'initialized', createdAt: new Date() }] });
    await post('/v1/sync/region', { ...standing(0, 0), userId });
  });
});

/**
 * The SDK makes locations without a time: for `mockTracking`, for a stop that it has stored, and when React Native,
 * Capacitor or Flutter passes a location to `trackOnce`. Then `locationMs` is 0, and the age is the time since boot.
 * Before 3.19 it sends no `locationMs`.
 */
describe.each([
  ['3.34.0', 0],
  ['3.18.2', undefined],
])('the SDK for Android %s, with a location that has no time', (sdkVersion, locationMs) => {
  const headers = { ...headersOf('Android'), 'x-radar-sdk-version': sdkVersion };
  const post = async (path: string, body: object): Promise<Json> =>
    ok(await server.as('test_publishable').send('POST', path, { body, headers }));
  const withClock = (eastM: number, deviceId: string) => ({
    ...platforms.Android.location(eastM),
    sdkVersion,
    deviceId: `${deviceId}, ${sdkVersion}`,
  });
  const withoutTime = (eastM: number, deviceId: string) => ({
    ...withClock(eastM, deviceId),
    locationMs,
    foreground: false,
  });

  it.each([
    ['two hours', 2 * 3_600_000],
    ['two weeks', 14 * 86_400_000],
  ])('mocks tracking on a phone that has run for %s', async (name, sinceBootMs) => {
    const deviceId = `mocking for ${name}`;
    await post('/v1/track', { ...withClock(2_000, deviceId), updatedAtMsDiff: 100 });
    for (const [index, eastM] of [0, 2_000, 0].entries()) {
      const mock = { ...withoutTime(eastM, deviceId), source: 'MOCK_LOCATION', updatedAtMsDiff: sinceBootMs + index };
      const sentAt = Date.now();
      const { events, user } = await post('/v1/track', mock);
      expect(events).toHaveLength(2);
      expect(Date.parse(user.updatedAt)).toBeGreaterThanOrEqual(sentAt);
    }
  });

  it('enters at a stop that it sends again', async () => {
    const deviceId = 'stopped without a connection';
    await post('/v1/track', { ...withClock(2_000, deviceId), updatedAtMsDiff: 60_000 });
    const stop = { ...withoutTime(0, deviceId), stopped: true, replayed: true, updatedAtMsDiff: 86_400_000 };
    expect((await post('/v1/track', stop)).events).toMatchObject([{ replayed: true }, { replayed: true }]);
  });

  it('sends a location of the app with stored ones, at the time of the wall clock', async () => {
    const updatedAtMs = Date.now() - 1_000;
    const replay = { ...withoutTime(0, 'passed to trackOnce'), replayed: true, updatedAtMs };
    const { events } = await post('/v1/track/replay', { replays: [{ ...replay, updatedAtMsDiff: 86_400_000 }] });
    expect(events).toHaveLength(2);
    for (const { createdAt } of events) expect(Date.parse(createdAt)).toBe(updatedAtMs);
  });
});

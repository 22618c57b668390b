import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topics } from '../../pipeline/ports.js';
import { readAll } from '../../pipeline/stages/testing/node.js';
import { codecs } from '../../schemas/codecs.js';
import { type DeviceApi, north, startDeviceApi } from '../../testing/device-api.js';

let ingest: DeviceApi;
const uuid = 'b9407f30-f5f8-466e-aff9-25556b57fe6d';

beforeAll(async () => {
  ingest = await startDeviceApi({
    settings: {
      stopDetection: true,
      bufferExits: true,
      dwellEvents: true,
      defaultDwellThreshold: 5,
      beaconUuids: [uuid],
    },
    found: (radiusM) => (radiusM === undefined ? 2 : radiusM > 1_000 ? 100 : 7),
  });
});
afterAll(() => ingest.close());

const call = (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object, key = ingest.publishable) =>
  ingest.app.inject({ method, url, headers: { authorization: key }, ...(payload && { payload }) });

describe('GET /v1/config', () => {
  it('mirrors the settings of the project', async () => {
    const query = 'deviceId=d&id=(null)&usage=track&verified=false&clientSdkConfiguration=%7B%7D';
    const { meta } = (await call('GET', `/v1/config?${query}`)).json();
    expect(meta).toMatchObject({
      code: 200,
      sdkConfiguration: {
        logLevel: 'info',
        useOpenedAppConversion: false,
        stopDetection: true,
        bufferGeofenceEntries: false,
        bufferGeofenceExits: true,
        defaultGeofenceDwellThreshold: 5,
      },
    });
    expect(meta).not.toHaveProperty('trackingOptions');
  });

  // The answer was always `info`, which the SDK then used: `Radar.setLogLevel` changed nothing.
  it.each([
    ['{"logLevel":"debug"}', 'debug'],
    ['{"logLevel":"none"}', 'none'],
    ['{"logLevel":"all"}', 'info'],
    ['{"logLevel":["debug"]}', 'info'],
    ['{}', 'info'],
    ['(null)', 'info'],
    ['null', 'info'],
  ])('regression: leaves the log level to the app: %s', async (client, logLevel) => {
    const query = `usage=sdkConfigUpdate&clientSdkConfiguration=${encodeURIComponent(client)}`;
    const { meta } = (await call('GET', `/v1/config?${query}`)).json();
    expect(meta.sdkConfiguration.logLevel).toBe(logLevel);
  });
});

describe('search by place', () => {
  it('answers the context nested and at the top level', async () => {
    const answer = (await call('GET', '/v1/context?coordinates=50.000001,10&accuracy=20&userId=u')).json();
    expect(ingest.asked.context).toMatchObject({
      latitude: 50.000001,
      longitude: 10,
      environment: 'test',
    });
    expect(answer.context).toEqual({ live: false, geofences: [{ _id: '0' }] });
    expect(answer.geofences).toEqual(answer.context.geofences);
  });

  it.each([
    ['near=50,10', { limit: 100, includeGeometry: true, latitude: 50, longitude: 10 }],
    ['near=50,10&tags=a,b&radius=500', { tags: ['a', 'b'], radiusM: 500 }],
    ['near=50,10&metadata[open]=true&metadata[floor]=2', { metadata: { open: ['true', true], floor: ['2', 2] } }],
    ['near=50,10&limit=1000&includeGeometry=false', { limit: 1_000, includeGeometry: false }],
    ['near=50,10&limit=1000&includeGeometries=false', { limit: 1_000, includeGeometry: false }],
  ])('search geofences: %s', async (query, question) => {
    const answer = await call('GET', `/v1/search/geofences?${query}`);
    expect(answer.statusCode).toBe(200);
    expect(answer.json().geofences.length).toBeGreaterThan(0);
    expect(ingest.asked.searchGeofences).toMatchObject(question);
  });

  // SDKs write a parameter that the app has not set as `null`: Android a limit, the web each of them. It was refused.
  it.each([
    ['/v1/search/geofences?near=50,10&limit=null', 'searchGeofences', { limit: 100 }],
    ['/v1/search/beacons?near=50,10&limit=null', 'searchBeacons', { limit: 10 }],
    ['/v1/search/beacons?near=50,10&radius=null', 'searchBeacons', { radiusM: 1_000 }],
    [
      '/v1/search/geofences?near=50,10&radius=null&includeGeometry=null&metadata=null',
      'searchGeofences',
      { includeGeometry: true },
    ],
    ['/v1/context?coordinates=50,10&accuracy=null', 'context', { latitude: 50, longitude: 10 }],
  ] as const)('regression: takes null as not given: %s', async (url, query, question) => {
    expect((await call('GET', url)).statusCode).toBe(200);
    expect(ingest.asked[query]).toMatchObject(question);
  });

  it('takes null as a text where text is asked for', async () => {
    expect((await call('GET', '/v1/search/geofences?near=50,10&tags=null')).statusCode).toBe(200);
    expect(ingest.asked.searchGeofences).toMatchObject({ tags: ['null'] });
  });

  it('searches tags that are numbers in JSON text; they were left out, and all tags were found', async () => {
    expect((await call('GET', '/v1/search/geofences?near=50,10&tags=%5B7,%22a%22%5D')).statusCode).toBe(200);
    expect(ingest.asked.searchGeofences).toMatchObject({ tags: ['7', 'a'] });
  });

  it('ignores the metadata filter that a web SDK garbles', async () => {
    expect((await call('GET', '/v1/search/geofences?near=50,10&metadata=%5Bobject%20Object%5D')).statusCode).toBe(200);
    expect(ingest.asked.searchGeofences).not.toHaveProperty('metadata');
  });

  it.each([
    ['/v1/context', 'coordinates'],
    ['/v1/context?coordinates=91,0', 'coordinates'],
    ['/v1/search/geofences?near=a,b', 'near'],
    ['/v1/search/geofences?near=1,2&limit=1001', 'limit'],
    ['/v1/search/geofences?near=1,2&limit=101', 'includeGeometry'],
    // They were left out, so the search found the geofences of all tags.
    ['/v1/search/geofences?near=1,2&tags=,', 'tags'],
    ['/v1/search/geofences?near=1,2&tags=%5B%5D', 'tags'],
    ['/v1/search/beacons?near=1', 'near'],
    ['/v1/search/beacons?near=1,2&limit=0', 'limit'],
  ])('%s is refused for its %s', async (url, param) => {
    const answer = await call('GET', url);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().meta.param).toBe(param);
  });

  it('searches beacons, and lists the UUIDs to range anywhere', async () => {
    const { meta, beacons } = (
      await call('GET', '/v1/search/beacons?near=50,10&radius=1000&limit=500&installId=x')
    ).json();
    expect(meta).toEqual({ code: 200, settings: { beacons: { uuids: [uuid], uids: [] } } });
    expect(beacons).toHaveLength(3);
    expect(ingest.asked.searchBeacons).toMatchObject({ radiusM: 1_000, limit: 100 });
  });

  // CoreLocation ranges no others. They took the places of iBeacons, and the SDK could not read a list that had one.
  it.each([
    ['iOS', 'ibeacon'],
    ['Android', undefined],
  ])('regression: answers beacons that the SDK for %s can range', async (deviceType, type) => {
    const headers = { authorization: ingest.publishable, 'x-radar-device-type': deviceType };
    for (const request of [
      { url: '/v1/search/beacons?near=50,10' },
      { method: 'POST', url: '/v1/sync/region', payload: { latitude: 50, longitude: 10 } },
    ] as const) {
      Reflect.deleteProperty(ingest.asked, 'searchBeacons');
      await ingest.app.inject({ ...request, headers });
      expect(ingest.asked).toMatchObject({ searchBeacons: { longitude: 10 } });
      expect(ingest.asked.searchBeacons?.type).toBe(type);
    }
  });

  it('hides the users and addresses of a geofence from a publishable key', async () => {
    for (const [method, url, body] of [
      ['GET', '/v1/search/geofences?near=50,10'],
      ['POST', '/v1/sync/region', { latitude: 50, longitude: 10 }],
    ] as const) {
      expect((await call(method, url, body)).json().geofences[0]).toEqual({ _id: '0' });
      const told = (await call(method, url, body, ingest.secret)).json().geofences[0];
      expect(told).toEqual({ _id: '0', userIds: 'ann,bob', ip: '10.0.0.0/8' });
    }
  });

  it('answers a region with no more geofences than a device keeps', async () => {
    const answer = (await call('POST', '/v1/sync/region', { latitude: 50, longitude: '10', userId: null })).json();
    expect(answer.region).toEqual({ latitude: 50, longitude: 10, radius: 1_000 });
    expect(answer.geofences).toHaveLength(7);
    expect(answer).toMatchObject({ beacons: [{}, {}, {}], places: [] });
  });

  // Beacons are synced within 1 km. The answer had those of up to 10 km.
  it.each([
    ['is the widest one without beacons', () => 0, 5_000],
    ['is the widest one if all beacons are within 1 km', () => 3, 5_000],
    ['ends at 1 km if there are beacons beyond', (radiusM: number) => (radiusM > 1_000 ? 4 : 3), 1_000],
  ])('regression: a region %s', async (_, foundBeacons, radius) => {
    const city = await startDeviceApi({ foundBeacons, found: (radiusM = 0) => (radiusM > 5_000 ? 100 : 5) });
    try {
      const answer = await city.app.inject({
        method: 'POST',
        url: '/v1/sync/region',
        headers: { authorization: city.publishable },
        payload: { latitude: 50, longitude: 10 },
      });
      expect(answer.json().region.radius).toBe(radius);
    } finally {
      await city.close();
    }
  });

  // The answer had the nearest 100 beacons of a region of 10 km, so a device in the region never ranged the others.
  it('regression: answers a region with no more beacons than it lists', async () => {
    const mall = await startDeviceApi({ foundBeacons: (radiusM) => (radiusM > 500 ? 300 : 80) });
    try {
      const answer = await mall.app.inject({
        method: 'POST',
        url: '/v1/sync/region',
        headers: { authorization: mall.publishable },
        payload: { latitude: 50, longitude: 10 },
      });
      expect(answer.json().region.radius).toBe(500);
      expect(answer.json().beacons).toHaveLength(80);
    } finally {
      await mall.close();
    }
  });
});

describe('POST /v1/events', () => {
  it('makes a durable event of a conversion', async () => {
    await call('POST', '/v1/track', { deviceId: 'buyer', userId: 'u', ...north(0), foreground: true });
    const conversion = {
      name: 'opened_app',
      deviceId: 'buyer',
      metadata: { plan: 'gold' },
      revenue: 9.5,
      createdAt: '2026-01-02T03:04:05.678Z',
    };
    const { meta, event } = (await call('POST', '/v1/events', conversion)).json();
    expect(meta.code).toBe(200);
    expect(event).toMatchObject({
      type: 'opened_app',
      createdAt: '2026-01-02T03:04:05.678Z',
      confidence: 3,
      metadata: { plan: 'gold', revenue: 9.5 },
      user: { deviceId: 'buyer' },
    });
    const stored = (await readAll(ingest.node.embedded, topics.events)).map(({ value }) =>
      codecs.event.decode(value as Buffer),
    );
    expect(stored.find(({ id }) => id === event._id)).toMatchObject({
      type: 'opened_app',
      locationId: null,
      user: { userId: 'u', deviceId: 'buyer' },
    });
  });

  it('accepts `type` as mobile SDKs send it, and no user', async () => {
    const { event } = (await call('POST', '/v1/events', { type: 'viewed', id: null, campaign: null })).json();
    expect(event.type).toBe('viewed');
    expect(event).not.toHaveProperty('user');
  });

  // The whole payload of the notification was refused for its `aps`, which every pushed one has.
  it('regression: keeps the flat values of the notification that iOS reports as opened', async () => {
    const payload = { aps: { alert: 'Sale' }, custom: ['a'], campaign: 'autumn', step: 2, none: null };
    const metadata = { ...payload, conversionSource: 'notification' };
    for (const sent of [metadata, JSON.stringify(metadata)]) {
      const { event } = (await call('POST', '/v1/events', { type: 'opened_app', metadata: sent })).json();
      expect(event.metadata).toEqual({ campaign: 'autumn', step: 2, conversionSource: 'notification' });
    }
  });

  it('keeps the names of evaluated events from publishable keys', async () => {
    const forged = { name: 'user.entered_geofence', deviceId: 'd' };
    expect((await call('POST', '/v1/events', forged)).statusCode).toBe(403);
    expect((await call('POST', '/v1/events', forged, ingest.secret)).statusCode).toBe(200);
  });

  it.each([
    [{}, 'name'],
    [{ name: 'a b' }, 'name'],
    [{ name: 'a', createdAt: 'soon' }, 'createdAt'],
    [{ name: 'a', metadata: { a: {} } }, 'metadata.a'],
    [{ name: 'a', revenue: 'much' }, 'revenue'],
  ])('%j is refused for its %s', async (body, param) => {
    const answer = await call('POST', '/v1/events', body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().meta.param).toBe(param);
  });
});

// Only the number of keys was bounded: 187 KB of a public key were stored, and kept as an answer.
it('refuses a conversion whose metadata is larger than that of a track', async () => {
  const metadata = (characters: number) => ({ text: 'x'.repeat(characters - '{"text":""}'.length) });
  const statuses = [];
  for (const characters of [16_384, 16_385]) {
    const answer = await call('POST', '/v1/events', { name: 'bought', metadata: metadata(characters) });
    statuses.push([answer.statusCode, answer.json().meta.param]);
  }
  expect(statuses).toEqual([
    [200, undefined],
    [400, 'metadata'],
  ]);
});

// A list of locations or events was refused for a field that it lacks.
it.each(['/v1/track', '/v1/track/replay', '/v1/events', '/v1/sync/region'])(
  'a body of %s that is no object is refused as such',
  async (url) => {
    for (const payload of ['[{"deviceId":"a"}]', '"text"', '5']) {
      const headers = { authorization: ingest.publishable, 'content-type': 'application/json' };
      const answer = await ingest.app.inject({ method: 'POST', url, headers, payload });
      expect([answer.statusCode, answer.json().meta.type]).toEqual([400, 'invalid_body']);
      expect(answer.json().meta.message).toBe('the body must be an object of fields');
    }
  },
);

it('accepts logs of any shape', async () => {
  for (const body of [{ logs: [{ level: 'info' }] }, { logs: 'x' }, {}]) {
    expect((await call('POST', '/v1/logs', body)).json()).toEqual({ meta: { code: 200 } });
  }
});

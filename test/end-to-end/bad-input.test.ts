/** Bad input is refused with the invalid field, and has no effect: valid requests before and after still count. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Client, ok, trackDefaults } from '../support/client.js';
import { at, circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
let device: Client;
let backend: Client;
let inside = false;

beforeAll(async () => {
  server = await SharedServer.newProject();
  device = server.as('test_publishable');
  backend = server.as('test_secret');
  await backend.putGeofence('gate', circle(0, 0, 100));
});

afterEach(async () => {
  // The next valid request works after any refusal, and shows that the refused one had no effect.
  inside = !inside;
  const { events } = await device.track({ deviceId: 'witness', ...standing(inside ? 0 : 900, 0) });
  expect(events.map(({ type }: { type: string }) => type)).toEqual([`user.${inside ? 'entered' : 'exited'}_geofence`]);
});

function expectRefusal({ status, body }: Answer, param: string | RegExp): void {
  expect({ status, code: body.meta?.code }).toEqual({ status: 400, code: 400 });
  expect(body.meta.param).toEqual(typeof param === 'string' ? param : expect.stringMatching(param));
  expect(body.meta.message).toContain(body.meta.param);
  expect(body.meta.error).toBeUndefined();
}

const metadata = (keys: number) =>
  Object.fromEntries(Array.from({ length: keys }, (_, index) => [`key${index}`, index]));
const good = { deviceId: 'bad-input', ...trackDefaults, ...standing(0, 0) };

describe('a track request', () => {
  it.each<[string, string | RegExp, object]>([
    ['latitude 90.1', 'latitude', { latitude: 90.1 }],
    ['latitude -90.1', 'latitude', { latitude: -90.1 }],
    ['latitude NaN', 'latitude', { latitude: 'NaN' }],
    ['no latitude', 'latitude', { latitude: null }],
    ['a list for latitude', 'latitude', { latitude: [1] }],
    ['longitude 180.1', 'longitude', { longitude: 180.1 }],
    ['longitude -180.1', 'longitude', { longitude: -180.1 }],
    ['longitude Infinity', 'longitude', { longitude: 'Infinity' }],
    ['longitude 1e400', 'longitude', { longitude: '1e400' }],
    ['accuracy -1', 'accuracy', { accuracy: -1 }],
    ['accuracy NaN', 'accuracy', { accuracy: 'NaN' }],
    ['no accuracy', 'accuracy', { accuracy: undefined }],
    ['no deviceId', 'deviceId', { deviceId: undefined }],
    ['an empty deviceId', 'deviceId', { deviceId: '' }],
    ['an object for deviceId', 'deviceId', { deviceId: { $ne: null } }],
    ['a deviceId of 10,000 characters', 'deviceId', { deviceId: 'x'.repeat(10_000) }],
    ['foreground perhaps', 'foreground', { foreground: 'perhaps' }],
    ['updatedAt yesterday', 'updatedAt', { updatedAt: 'yesterday' }],
    ['beacons of text', 'beacons', { beacons: 'all of them' }],
    ['nested metadata', /^metadata/, { metadata: { nested: { deep: true } } }],
    ['33 metadata keys', 'metadata', { metadata: metadata(33) }],
    ['broken JSON for metadata', 'metadata', { metadata: '{"broken":' }],
  ])('is refused for %s', async (_what, param, fields) => {
    expectRefusal(await device.post('/v1/track', { ...good, ...fields }), param);
  });

  it.each([
    ['not JSON', '{"deviceId": "x", '],
    ['NaN as a number', '{"deviceId":"x","latitude":NaN,"longitude":1,"accuracy":1}'],
    ['a list', '[]'],
    ['a text', '"hello"'],
    ['nothing', ''],
  ])('is refused when its body is %s', async (_what, body) => {
    const answer = await device.send('POST', '/v1/track', { body, headers: { 'content-type': 'application/json' } });
    expect(answer.status).toBe(400);
    expect(answer.body.meta.code).toBe(400);
  });

  it('is refused as a form with invalid JSON', async () => {
    const { longitude, latitude } = standing(0, 0);
    const fields = {
      deviceId: 'x',
      latitude: String(latitude),
      longitude: String(longitude),
      accuracy: '5',
      metadata: '{"a":',
    };
    expectRefusal(await device.form('POST', '/v1/track', fields), 'metadata');
  });

  it.each(['/v1/track', '/v1/track/replay', '/v1/logs', '/v1/geofences', '/v1/beacons', '/v1/explain'])(
    'of 10 MB is 413 at %s',
    async (path) => {
      const answer = await backend.post(path, { ...good, padding: 'x'.repeat(10_000_000) });
      expect({ status: answer.status, type: answer.body.meta.type }).toEqual({ status: 413, type: 'body_too_large' });
    },
  );

  it('in a replay is named, and the others are applied', async () => {
    const replays = [{ ...good, latitude: 100 }, good];
    const answer = ok(await device.post('/v1/track/replay', { replays }));
    expect(answer.rejections).toEqual([expect.objectContaining({ index: 0, param: 'latitude' })]);
    expect(answer.user.deviceId).toBe(good.deviceId);
    expectRefusal(await device.post('/v1/track/replay', { replays: replays.slice(0, 1) }), 'latitude');
    expectRefusal(await device.post('/v1/track/replay', { replays: {} }), 'replays');
  });

  // The pattern of numbers tried every way to divide the digits between two of its parts, which took hours.
  it.each(['latitude', 'updatedAt', 'accuracy'])(
    'is refused at once for %s of 900,000 digits and a letter',
    async (param) => {
      expectRefusal(await device.post('/v1/track', { ...good, [param]: `${'1'.repeat(900_000)}x` }), param);
    },
  );

  it('ignores unknown fields', async () => {
    const unknown = { desiredAccuracy: 'high', tripOptions: null, userId: null, description: null, metadata: null };
    ok(await device.post('/v1/track', { ...good, ...unknown }));
  });

  it('accepts the poles and the antimeridian', async () => {
    for (const [longitude, latitude] of [
      [180, 90],
      [-180, -90],
      [180, 0],
      [0, 0],
    ]) {
      ok(await device.post('/v1/track', { ...good, longitude, latitude, accuracy: 0 }));
    }
  });
});

describe('a geofence', () => {
  const put = (fields: object) => backend.put('/v1/geofences/bad/input', { description: 'x', ...fields });
  const ring = (points: number) => {
    const corners = Array.from({ length: points - 1 }, (_, index) => {
      const angle = (2 * Math.PI * index) / (points - 1);
      return at(5_000 + 300 * Math.cos(angle), 300 * Math.sin(angle));
    });
    return [...corners, corners[0]];
  };
  const polygon = (coordinates: unknown) => ({ type: 'polygon', coordinates });
  const round = circle(5_000, 0, 100);

  it.each<[string, string | RegExp, object]>([
    ['radius 9', 'radius', { ...round, radius: 9 }],
    ['radius 10,001', 'radius', { ...round, radius: 10_001 }],
    ['no radius', 'radius', { ...round, radius: undefined }],
    ['radius NaN', 'radius', { ...round, radius: 'NaN' }],
    ['a centre out of range', 'coordinates', { ...round, coordinates: [200, 0] }],
    ['a centre of text', 'coordinates', { ...round, coordinates: ['a', 'b'] }],
    ['no coordinates', 'coordinates', { type: 'circle', radius: 100 }],
    ['an unclosed ring', 'coordinates', polygon(ring(10).slice(0, -1))],
    ['3 points', 'coordinates', polygon([at(0, 0), at(100, 0), at(0, 0)])],
    ['2,001 points', 'coordinates', polygon(ring(2_001))],
    ['a ring that crosses itself', 'coordinates', polygon([at(0, 0), at(100, 100), at(100, 0), at(0, 100), at(0, 0)])],
    ['a ring without area', 'coordinates', polygon([at(0, 0), at(100, 0), at(200, 0), at(0, 0)])],
    ['NaN in a ring', 'coordinates', polygon([[null, 50], at(100, 0), at(100, 100), [null, 50]])],
    ['broken JSON for coordinates', 'coordinates', polygon('[[10,50],[')],
    ['17 metadata keys', 'metadata', { ...round, metadata: metadata(17) }],
    ['nested metadata', /^metadata/, { ...round, metadata: { a: { b: 1 } } }],
    ['a list in metadata', /^metadata/, { ...round, metadata: { a: [1] } }],
    ['broken JSON for metadata', 'metadata', { ...round, metadata: '{"a"' }],
    ['an unknown type', 'type', { ...round, type: 'ellipse' }],
    ['a type that is not available', 'type', { ...round, type: 'isochrone', radius: 15, mode: 'car' }],
    ['an isochrone of 61 minutes', 'radius', { ...round, type: 'isochrone', radius: 61, mode: 'car' }],
    ['an isochrone without a mode', 'mode', { ...round, type: 'isochrone', radius: 15 }],
    ['an address', 'address', { type: 'circle', radius: 100, address: '1 Main Street' }],
    ['a placeId', 'placeId', { type: 'circle', radius: 100, placeId: 'a'.repeat(24) }],
    ['no description', 'description', { ...round, description: '' }],
    ['enabled perhaps', 'enabled', { ...round, enabled: 'perhaps' }],
    ['operating hours of no day', 'operatingHours', { ...round, operatingHours: { Someday: [['09:00', '17:00']] } }],
    ['operating hours of no time', 'operatingHours', { ...round, operatingHours: { Mon: [['9 o’clock', '17:00']] } }],
    ['broken JSON for operating hours', 'operatingHours', { ...round, operatingHours: '{"Mon":' }],
    ['disableAfter of no date', 'disableAfter', { ...round, disableAfter: 'soon' }],
    ['deleteAfter of no date', 'deleteAfter', { ...round, deleteAfter: 'soon' }],
    ['a negative dwell threshold', 'dwellThreshold', { ...round, dwellThreshold: -1 }],
    ['no IP range', 'ip', { ...round, ip: '300.1.1.1' }],
  ])('is refused for %s', async (_what, param, fields) => {
    expectRefusal(await put(fields), param);
    expect((await backend.get('/v1/geofences/bad/input')).status).toBe(404);
  });

  it('is refused as a form with invalid JSON', async () => {
    const fields = { description: 'x', type: 'circle', coordinates: '[10,50', radius: '100' };
    expectRefusal(await backend.form('PUT', '/v1/geofences/bad/input', fields), 'coordinates');
  });

  it.each<[string, object]>([
    ['radius 10', { ...round, radius: 10 }],
    ['radius 10,000', { ...round, radius: 10_000 }],
    ['4 points', polygon([at(5_000, 0), at(5_100, 0), at(5_000, 100), at(5_000, 0)])],
    ['2,000 points', polygon(ring(2_000))],
    ['16 metadata keys', { ...round, metadata: metadata(16) }],
  ])('is taken with %s', async (_what, fields) => {
    ok(await backend.put('/v1/geofences/good/input', { description: 'x', ...fields }));
    ok(await backend.delete('/v1/geofences/good/input'));
  });
});

describe('a beacon', () => {
  const ibeacon = { description: 'x', type: 'ibeacon', major: '1', minor: '2', coordinates: at(0, 0) };
  const complete = { ...ibeacon, uuid: 'b9407f30-f5f8-466e-aff9-25556b57fe6d' };
  it.each<[string, string | RegExp, object]>([
    ['no uuid', 'uuid', ibeacon],
    ['a uuid of no hex', 'uuid', { ...ibeacon, uuid: 'not hex' }],
    ['no major', 'major', { ...complete, major: undefined }],
    ['a minor out of range', 'minor', { ...complete, minor: 65_536 }],
    ['no coordinates', 'coordinates', { ...complete, coordinates: undefined }],
    ['17 metadata keys', 'metadata', { ...complete, metadata: metadata(17) }],
    ['an unknown type', 'type', { ...complete, type: 'altbeacon' }],
    ['no uid', 'uid', { ...complete, type: 'eddystone' }],
  ])('is refused for %s', async (_what, param, fields) => {
    expectRefusal(await backend.put('/v1/beacons/bad/input', fields), param);
  });
});

describe('queries and paths', () => {
  it.each([
    ['/v1/context?coordinates=91,0', 'coordinates'],
    ['/v1/context?coordinates=here', 'coordinates'],
    ['/v1/context', 'coordinates'],
    ['/v1/search/geofences', 'near'],
    ['/v1/search/geofences?near=1,2&limit=0', 'limit'],
    ['/v1/search/geofences?near=1,2&limit=1001', 'limit'],
    ['/v1/search/beacons?near=NaN,2', 'near'],
    ['/v1/events?limit=ten', 'limit'],
    ['/v1/events?createdBefore=never', 'createdBefore'],
    ['/v1/users?cursor=nonsense', 'cursor'],
  ])('%s is refused', async (path, param) => {
    expectRefusal(await backend.get(path), param);
  });

  it.each([
    ['GET', '/v1/nothing', 404],
    ['GET', '/v1/geofences/no/such', 404],
    ['GET', `/v1/geofences/${'0'.repeat(24)}`, 404],
    ['DELETE', '/v1/beacons/no/such', 404],
    ['GET', '/v1/users/nobody', 404],
    ['GET', '/v1/geofences/%E0%A4%A/x', 400],
    ['GET', '/v1/track', 405],
  ])('%s %s is %i in the common shape', async (method, path, status) => {
    const answer = await backend.send(method, path);
    expect(answer.status).toBe(status);
    expect(answer.body.meta).toMatchObject({ code: status, message: expect.any(String), type: expect.any(String) });
  });

  it.each([
    ['GET', '/v1/users/', 'id'],
    ['GET', '/v1/users//locations', 'id'],
    ['GET', '/v1/geofences/', 'id'],
    ['GET', '/v1/geofences/store/', 'externalId'],
    ['DELETE', '/v1/geofences//1', 'tag'],
    ['POST', '/v1/webhooks//test', 'id'],
  ])('%s %s is refused, because %s is empty', async (method, path, param) => {
    expectRefusal(await backend.send(method, path), param);
  });

  it('a query parameter without a value counts as not given', async () => {
    for (const name of ['tag', 'externalId', 'search', 'limit', 'cursor'])
      expect(ok(await backend.get(`/v1/geofences?${name}=`)).geofences).toMatchObject([{ externalId: 'gate' }]);
  });

  it.each(['a/b', '😀 x', '100%', 'x'.repeat(256)])('%s is a tag and an external id', async (name) => {
    const path = `/v1/geofences/${encodeURIComponent(name)}/${encodeURIComponent(name)}`;
    const geofence = { description: 'odd', ...circle(0, 5_000, 100) };
    ok(await backend.put(path, geofence));
    expect(ok(await backend.get(path)).geofence).toMatchObject({ tag: name, externalId: name });
    expect((await backend.send('HEAD', path)).status).toBe(200);
    ok(await backend.delete(path));
    expect((await backend.get(path)).status).toBe(404);
    expectRefusal(await backend.put(`${path}${'x'.repeat(257)}`, geofence), 'externalId');
  });

  it('an erasure of nobody erases nobody', async () => {
    // The name of a user without a name was empty, so a script whose variable was not set erased all of them.
    expectRefusal(await backend.send('DELETE', '/v1/users/'), 'id');
    expectRefusal(await backend.send('DELETE', '/v1/events/'), 'id');
    expect(ok(await backend.get('/v1/erasures')).erasures).toEqual([]);
  });

  it('an id that no record can have is 404', async () => {
    for (const path of ['/v1/replays', '/v1/imports', '/v1/erasures', '/v1/webhooks', '/v1/map-styles', '/v1/events'])
      expect(await backend.get(`${path}/${'x'.repeat(1_500)}`)).toMatchObject({ status: 404 });
  });

  it('a body of an unsupported type is 415', async () => {
    const answer = await backend.send('POST', '/v1/geofences', {
      body: '<x/>',
      headers: { 'content-type': 'text/xml' },
    });
    expect(answer.status).toBe(415);
  });
});

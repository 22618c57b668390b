/** The centre that an address gives, and the stored fields. The gazetteer knows towns, a scripted service houses. */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { refusal } from '../../providers/answer.js';
import { createGazetteer } from '../../providers/geocoding/gazetteer/gazetteer.js';
import type { Address, Geocoder, GeocodingResult } from '../../providers/geocoding/geocoder.js';
import { ApiError } from '../../schemas/errors.js';
import { type Body, type TestApi, useApi } from '../testing/fixtures.js';

const resolvedAt = Date.UTC(2026, 0, 2);
const gazetteer = createGazetteer();
const town: Address = {
  position: [9.52, 47.14],
  layer: 'locality',
  confidence: 'exact',
  formattedAddress: 'Vaduz, Liechtenstein',
};
const house: Address = { ...town, layer: 'address', formattedAddress: 'Städtle 1, Vaduz' };

const queries: string[] = [];
const asking: string[] = [];
let answer: GeocodingResult;
const service: Geocoder = {
  name: 'scripted',
  knowsStreets: true,
  async forward(project, query) {
    asking.push(project);
    queries.push(query);
    return answer;
  },
  reverse: async () => answer,
  autocomplete: async () => answer,
  close: async () => {},
};
const answering = (...value: Address[]): void => {
  answer = { ok: true, value };
};

const clock = () => resolvedAt;
const [withGazetteer, withService, without] = [
  await useApi({ geometrySources: { geocoder: gazetteer, clock } }),
  await useApi({ geometrySources: { geocoder: service, clock } }),
  await useApi(),
];

const circle = { description: 'Shop', type: 'circle', radius: 100 };
const url = '/v1/geofences/shop/1';
const put = (api: TestApi, fields: object) => api.call('PUT', url, { body: { ...circle, ...fields } });
const refused = async (api: TestApi, fields: object): Promise<Body> => {
  const { status, body } = await put(api, fields);
  expect(status).toBeGreaterThanOrEqual(400);
  expect((await api.call('GET', url)).status).toBe(404);
  return body.meta;
};

beforeEach(() => {
  queries.length = 0;
  asking.length = 0;
  for (const api of [withGazetteer, withService, without])
    onTestFinished(async () => void (await api.call('DELETE', url)));
});

describe('a town of the gazetteer', () => {
  test('gives the centre, and the answer tells where it came from', async () => {
    const { status, body } = await put(withGazetteer, { address: 'Paris, TX' });
    expect(status).toBe(200);
    expect(body.geofence).toMatchObject({
      type: 'circle',
      geometryRadius: 100,
      address: 'Paris, TX',
      geometrySource: {
        address: {
          provider: 'gazetteer',
          formattedAddress: 'Paris, TX, United States',
          resolvedAt: '2026-01-02T00:00:00.000Z',
        },
      },
    });
    expect(body.geofence.geometryCenter).toEqual(body.geofence.geometrySource.address.location);
    expect(body.geofence.geometryCenter.coordinates[0]).toBeCloseTo(-95.55, 1);
  });

  test('may be up to 50 km from the coordinates, which count', async () => {
    const { body } = await put(withGazetteer, { address: 'Paris', coordinates: [2.7, 48.7] });
    expect(body.geofence.geometryCenter.coordinates).toEqual([2.7, 48.7]);
  });

  test('is the one of its name near the coordinates', async () => {
    const { body } = await put(withGazetteer, { address: 'Springfield', coordinates: [-93.3, 37.2] });
    expect(body.geofence.geometrySource.address.formattedAddress).toBe('Springfield, MO, United States');
  });

  // The message said that 50 km must be within 50 km.
  test('is refused just beyond that with a distance beyond it', async () => {
    const { body } = await put(withGazetteer, { address: 'Paris, TX' });
    const [longitude, latitude] = body.geofence.geometryCenter.coordinates;
    const coordinates = [longitude, latitude + 50_200 / 111_000];
    const { meta } = (await put(withGazetteer, { address: 'Paris, TX', coordinates })).body;
    expect(meta).toMatchObject({ code: 400, message: expect.stringContaining('is 51 km from') });
  });

  test('is refused further away', async () => {
    expect(await refused(withGazetteer, { address: 'Tokyo', coordinates: [2.7, 48.7] })).toMatchObject({
      type: 'invalid_parameter',
      param: 'address',
      message: expect.stringMatching(
        /^address: Tokyo, Japan is \d+ km from the coordinates, which must be within 50 km$/,
      ),
    });
  });
});

test('a street is refused, and the message names the setting', async () => {
  expect(await refused(withGazetteer, { address: '10 Downing Street, London' })).toMatchObject({
    type: 'address_not_found',
    param: 'address',
    message: expect.stringContaining('set geocoding.provider'),
  });
});

test('a street with coordinates is stored with a warning where no street is known', async () => {
  const { body } = await put(withGazetteer, { address: '10 Downing Street, London', coordinates: [-0.13, 51.5] });
  expect(body.geofence.geometryCenter.coordinates).toEqual([-0.13, 51.5]);
  expect(body.geofence.geometrySource.address.warning).toContain('was not compared');
});

describe('a house of a service', () => {
  test('gives the centre', async () => {
    answering(house, town);
    const { body } = await put(withService, { address: 'Städtle 1, Vaduz' });
    expect(body.geofence.geometryCenter.coordinates).toEqual(house.position);
  });

  test.each([
    [[9.52, 47.22], 200],
    [[9.52, 47.24], 400],
  ])('with coordinates at %j is answered %d: 10 km count as near', async (coordinates, status) => {
    answering(house);
    expect((await put(withService, { address: 'Städtle 1', coordinates })).status).toBe(status);
  });

  test('is not replaced by its town', async () => {
    answering({ ...town, confidence: 'fallback' });
    expect(await refused(withService, { address: 'Städtle 1000, Vaduz' })).toMatchObject({
      type: 'address_not_found',
      message: expect.stringContaining('scripted knows only Vaduz, Liechtenstein'),
    });
  });

  test('that the service does not know is refused, also with coordinates', async () => {
    answering();
    expect(await refused(withService, { address: 'Nowhere 1' })).toMatchObject({ type: 'address_not_found' });
    expect(await refused(withService, { address: 'Nowhere 1', coordinates: [9, 47] })).toMatchObject({
      type: 'address_not_found',
    });
  });
});

describe('a service that does not answer', () => {
  beforeEach(() => {
    answer = refusal('unavailable', 'scripted at geocoding.url did not answer: timed_out');
  });

  test('refuses an address alone, to be tried again', async () => {
    expect(await refused(withService, { address: 'Vaduz' })).toMatchObject({ code: 503, type: 'unavailable' });
  });

  test('lets coordinates count, and the warning goes when the address is compared', async () => {
    const fields = { address: 'Städtle 1', coordinates: [9.52, 47.14] };
    const first = (await put(withService, fields)).body.geofence;
    expect(first.geometrySource.address).toMatchObject({ warning: expect.stringContaining('did not answer') });
    const again = (await put(withService, fields)).body.geofence;
    expect(again.geometrySource).toEqual(first.geometrySource);
    answering(house);
    expect((await put(withService, fields)).body.geofence.geometrySource.address).not.toHaveProperty('warning');
  });
});

test('too many waiting addresses of the project refuse one more, with the time to wait', async () => {
  const waiting = 'too many requests of this project wait for scripted; try again later';
  answer = { ok: false, error: new ApiError('overloaded', waiting, { retryAfterS: 1 }) };
  const { status, body, headers } = await put(withService, { address: 'Vaduz' });
  expect(status).toBe(503);
  expect(headers['retry-after']).toBe('1');
  expect(body.meta).toMatchObject({ type: 'overloaded', param: 'address', message: `address: ${waiting}` });
  expect(asking).toEqual([withService.project.record._id]);
});

test('a service that refuses the query refuses the address, and no retry is invited', async () => {
  answer = refusal('not_available', 'scripted at geocoding.url answered 400');
  expect(await refused(withService, { address: 'Vaduz' })).toMatchObject({
    code: 400,
    type: 'not_available',
    param: 'address',
  });
});

describe('an address is looked up again', () => {
  const fields = { address: 'Städtle 1, Vaduz' };

  test('never while it and the coordinates stay', async () => {
    answering(house);
    const first = (await put(withService, fields)).body.geofence;
    answering({ ...house, position: [0, 0] });
    const { body } = await put(withService, { ...fields, description: 'Other', radius: 50 });
    expect(queries).toHaveLength(1);
    expect(body.geofence.geometryCenter).toEqual(first.geometryCenter);
    const isSameCenter = { ...fields, coordinates: first.geometryCenter.coordinates };
    await put(withService, isSameCenter);
    expect(queries).toHaveLength(1);
  });

  test('if one of them changes, and after it was left out', async () => {
    answering(house);
    await put(withService, fields);
    await put(withService, { address: 'Städtle 2, Vaduz' });
    await put(withService, { address: 'Städtle 2, Vaduz', coordinates: [9.53, 47.14] });
    expect(queries).toHaveLength(3);
    const plain = (await put(withService, { coordinates: [9.53, 47.14] })).body.geofence;
    expect(plain).not.toHaveProperty('geometrySource');
    expect(plain).not.toHaveProperty('address');
    await put(withService, fields);
    expect(queries).toHaveLength(4);
  });
});

test('a record that was read can be sent back', async () => {
  answering(house);
  const { geofence } = (await put(withService, { address: 'Städtle 1, Vaduz' })).body;
  const { body } = await withService.call('PUT', url, { body: { ...geofence, radius: 100 } });
  expect(body.geofence).toMatchObject({ geometryCenter: geofence.geometryCenter, address: geofence.address });
});

test('the address of a polygon is ignored', async () => {
  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ];
  const { status, body } = await put(withService, { type: 'polygon', coordinates: ring, address: 'anything' });
  expect(status).toBe(200);
  expect(body.geofence).not.toHaveProperty('address');
  expect(queries).toEqual([]);
});

test('without a geocoder an address is not available, and coordinates count', async () => {
  expect(await refused(without, { address: 'Paris' })).toMatchObject({
    type: 'not_available',
    message: expect.stringContaining('geocoding.provider'),
  });
  const { body } = await put(without, { address: 'Paris', coordinates: [2.35, 48.85] });
  expect(body.geofence.geometrySource.address).toMatchObject({ warning: expect.stringContaining('switched off') });
});

test('neither coordinates nor an address is refused', async () => {
  expect(await refused(without, {})).toMatchObject({ type: 'invalid_parameter', param: 'coordinates' });
});

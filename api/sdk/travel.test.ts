/** Route distance and matrix in the wire format. The provider returns a straight line, and no route for trucks. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refusal } from '../../providers/answer.js';
import { decodePolyline } from '../../providers/routes/polyline.js';
import type { MatrixRequest, RouteProvider, RouteRequest } from '../../providers/routes/provider.js';
import { type DeviceApi, startDeviceApi } from '../../testing/device-api.js';

const asked: (RouteRequest | MatrixRequest)[] = [];
const routes: RouteProvider = {
  async route(request) {
    asked.push(request);
    if (request.mode === 'motorbike')
      return refusal('not_available', 'openrouteservice does not offer mode motorbike', 'modes');
    if (request.mode === 'truck') return { ok: true, value: null };
    return { ok: true, value: { distanceM: 2_000, durationS: 660, path: [request.origin, request.destination] } };
  },
  async matrix(request) {
    asked.push(request);
    const leg = { distanceM: 500, durationS: 60 };
    return {
      ok: true,
      value: request.origins.map((_, from) => request.destinations.map((__, to) => (from === to ? null : leg))),
    };
  },
};

let api: DeviceApi;
let without: DeviceApi;
beforeAll(async () => {
  api = await startDeviceApi({ routes });
  without = await startDeviceApi();
});
afterAll(async () => {
  await api.close();
  await without.close();
});

async function get(url: string, { app, publishable }: DeviceApi = api) {
  const answer = await app.inject({ url, headers: { authorization: publishable } });
  return { status: answer.statusCode, body: answer.json() };
}
const between = 'origin=50,10&destination=50.01,10';

describe('GET /v1/route/distance', () => {
  test('answers each mode that has a route, and the straight line', async () => {
    const { status, body } = await get(`/v1/route/distance?${between}&modes=car,foot,truck&units=metric`);
    expect(status).toBe(200);
    const leg = { distance: { value: 2_000, text: '2.0 km' }, duration: { value: 11, text: '11 mins' } };
    expect(body).toEqual({
      meta: { code: 200 },
      routes: { geodesic: { distance: { value: expect.closeTo(1_112.4, 0), text: '1.1 km' } }, car: leg, foot: leg },
    });
    expect(asked.at(-1)).toMatchObject({ origin: [10, 50], destination: [10, 50.01], avoid: [] });
  });

  test('takes a car and metric units by default, and what to avoid', async () => {
    const { body } = await get(`/v1/route/distance?${between}&avoid=tolls,ferries`);
    expect(Object.keys(body.routes)).toEqual(['geodesic', 'car']);
    expect(asked.at(-1)).toMatchObject({ mode: 'car', avoid: ['tolls', 'ferries'] });
  });

  test('adds the geometry as GeoJSON or as an encoded polyline', async () => {
    const geometryAs = async (geometry: string) =>
      (await get(`/v1/route/distance?${between}&geometry=${geometry}`)).body.routes.car.geometry;
    const path = [
      [10, 50],
      [10, 50.01],
    ] as [number, number][];
    expect(await geometryAs('linestring')).toEqual({ type: 'LineString', coordinates: path });
    for (const [name, digits] of [
      ['polyline', 5],
      ['polyline5', 5],
      ['polyline6', 6],
    ] as const)
      expect(decodePolyline((await geometryAs(name)).polyline, digits)).toEqual(path);
  });

  test('spaces as many points as wanted', async () => {
    const { body } = await get(`/v1/route/distance?${between}&geometry=linestring&geometryPoints=5`);
    expect(body.routes.car.geometry.coordinates).toHaveLength(5);
    expect(body.routes.geodesic.geometry.coordinates).toHaveLength(2);
  });

  test.each([
    ['origin=50,10', 'destination'],
    ['origin=a,b&destination=50,10', 'origin'],
    [`${between}&modes=boat`, 'modes'],
    [`${between}&units=furlongs`, 'units'],
    [`${between}&avoid=bridges`, 'avoid'],
    [`${between}&geometry=circle`, 'geometry'],
    [`${between}&geometryPoints=1`, 'geometryPoints'],
    [`${between}&modes=motorbike`, 'modes'],
  ])('%s is refused for its %s', async (query, param) => {
    const { status, body } = await get(`/v1/route/distance?${query}`);
    expect([status, body.meta.param]).toEqual([400, param]);
  });
});

describe('GET /v1/route/matrix', () => {
  test('answers a row for each origin', async () => {
    const { status, body } = await get(
      '/v1/route/matrix?origins=50,10|51,11&destinations=52,12|53,13&mode=bike&units=imperial',
    );
    expect(status).toBe(200);
    const leg = {
      distance: { value: expect.closeTo(1_640.4, 1), text: '0.3 mi' },
      duration: { value: 1, text: '1 min' },
    };
    expect(body).toMatchObject({
      origins: [
        { latitude: 50, longitude: 10 },
        { latitude: 51, longitude: 11 },
      ],
      destinations: [
        { latitude: 52, longitude: 12 },
        { latitude: 53, longitude: 13 },
      ],
    });
    expect(body.matrix).toEqual([
      [
        { originIndex: 0, destinationIndex: 0 },
        { originIndex: 0, destinationIndex: 1, ...leg },
      ],
      [
        { originIndex: 1, destinationIndex: 0, ...leg },
        { originIndex: 1, destinationIndex: 1 },
      ],
    ]);
    expect(asked.at(-1)).toMatchObject({
      mode: 'bike',
      origins: [
        [10, 50],
        [11, 51],
      ],
    });
  });

  // Without them the SDK for iOS ended its app: it puts what it has read into an array, which takes no nil.
  test('regression: a cell without a route has a distance and a duration for the SDK for iOS', async () => {
    const headers = { authorization: api.publishable, 'x-radar-device-type': 'iOS' };
    const url = '/v1/route/matrix?origins=50,10&destinations=50,10|51,11';
    const { matrix } = (await api.app.inject({ url, headers })).json();
    const none = { value: -1, text: '' };
    expect(matrix[0][0]).toEqual({ originIndex: 0, destinationIndex: 0, distance: none, duration: none });
    expect(matrix[0][1]).toMatchObject({ distance: { value: 500 }, duration: { value: 1 } });
  });

  // The SDK for the web, version 3, sends the form of a route also to a matrix. It was refused.
  test('regression: ignores a geometry, which a matrix does not have', async () => {
    const query = 'origins=50,10&destinations=51,11&mode=car&units=metric';
    const { status, body } = await get(`/v1/route/matrix?${query}&geometry=linestring`);
    expect(status).toBe(200);
    expect(body).toEqual((await get(`/v1/route/matrix?${query}`)).body);
  });

  // The SDK for the web writes a parameter that the app has set to null as `null`. It was refused.
  test.each([
    ['distance', between, 'units=null&geometry=null&geometryPoints=null'],
    ['matrix', 'origins=50,10&destinations=51,11', 'mode=null&units=null'],
  ])('regression: %s takes null as not given', async (call, query, nulls) => {
    const { status, body } = await get(`/v1/route/${call}?${query}&${nulls}`);
    expect(status).toBe(200);
    expect(body).toEqual((await get(`/v1/route/${call}?${query}`)).body);
  });

  test.each([
    ['destinations=50,10', 'origins'],
    ['origins=50,10&destinations=|', 'destinations'],
    ['origins=50,10|x&destinations=50,10', 'origins'],
    [`origins=${Array.from({ length: 26 }, () => '50,10').join('|')}&destinations=50,10`, 'origins'],
    ['origins=50,10&destinations=50,10&mode=car,foot', 'mode'],
  ])('%s is refused for its %s', async (query, param) => {
    const { status, body } = await get(`/v1/route/matrix?${query}`);
    expect([status, body.meta.param]).toEqual([400, param]);
  });
});

test.each([`/v1/route/distance?${between}`, '/v1/route/matrix?origins=50,10&destinations=50,10'])(
  'without a provider %s is not available, and the answer names the settings',
  async (url) => {
    const { status, body } = await get(url, without);
    expect([status, body.meta.type]).toEqual([400, 'not_available']);
    expect(body.meta.message).toContain('routing.provider');
  },
);

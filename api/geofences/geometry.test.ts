/** When an isochrone is computed, and what is stored. The provider is a function that counts its calls. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Answer } from '../../providers/answer.js';
import { refusal } from '../../providers/answer.js';
import type { Isochrone, IsochroneRequest } from '../../providers/isochrones/provider.js';
import { maxRingPoints } from '../../schemas/json/constants.js';
import { type Body, useApi } from '../testing/fixtures.js';

const computedAt = Date.UTC(2026, 0, 2);
const roadDataAt = Date.UTC(2025, 11, 31);
const requests: IsochroneRequest[] = [];
let answer: Answer<Isochrone> | undefined;

/** A square that grows with the minutes. */
const squareAbout = ({ center: [x, y], minutes }: IsochroneRequest): Isochrone => {
  const reach = minutes / 1_000;
  const corners: [number, number][] = [
    [x - reach, y - reach],
    [x + reach, y - reach],
    [x + reach, y + reach],
    [x - reach, y + reach],
    [x - reach, y - reach],
  ];
  return { ring: corners, source: { provider: 'squares', providerVersion: '1.0', roadDataAt, computedAt } };
};

const api = await useApi({
  geometrySources: {
    isochrones: async (request) => {
      requests.push(request);
      return answer ?? { ok: true, value: squareAbout(request) };
    },
  },
});
const reachable = {
  description: 'Reachable',
  type: 'isochrone',
  coordinates: [-73.97, 40.78],
  radius: 15,
  mode: 'car',
};
const url = '/v1/geofences/reach/1';
const put = (changed: object = {}) => api.call('PUT', url, { body: { ...reachable, ...changed } });
const stored = async (): Promise<Body> => (await api.call('GET', url)).body.geofence;

beforeEach(async () => {
  answer = undefined;
  await api.call('DELETE', url);
  requests.length = 0;
});

test('the provider gets project, destination, minutes and mode, and its ring is stored with its source', async () => {
  const { status, body } = await put();
  expect(status).toBe(200);
  expect(requests).toEqual([{ project: api.project.record._id, center: [-73.97, 40.78], minutes: 15, mode: 'car' }]);
  expect(body.geofence).toMatchObject({
    type: 'isochrone',
    mode: 'car',
    geometryCenter: { type: 'Point', coordinates: [-73.97, 40.78] },
    geometryRadius: 15,
    geometry: { type: 'Polygon', coordinates: [squareAbout(requests[0]!).ring] },
    geometrySource: {
      isochrone: {
        provider: 'squares',
        providerVersion: '1.0',
        roadDataAt: '2025-12-31T00:00:00.000Z',
        computedAt: '2026-01-02T00:00:00.000Z',
      },
    },
  });
  expect(await stored()).toEqual(body.geofence);
});

describe('an edit computes the ring again', () => {
  test('never if destination, minutes and mode stay, however it is sent', async () => {
    const first = (await put()).body.geofence;
    await put({ description: 'Other', metadata: { a: 1 } });
    await api.call('POST', '/v1/geofences', { body: { ...reachable, tag: 'reach', externalId: '1' } });
    await api.call('PUT', `/v1/geofences/${first._id}`, { body: { ...reachable, enabled: false } });
    await put({ coordinates: '[-73.97, 40.78]', radius: '15', mode: 'CAR' });
    expect(requests).toHaveLength(1);
    const { geometry, geometrySource } = await stored();
    expect({ geometry, geometrySource }).toEqual({ geometry: first.geometry, geometrySource: first.geometrySource });
  });

  test.each([
    ['destination', { coordinates: [-73.97, 40.781] }],
    ['minutes', { radius: 16 }],
    ['mode', { mode: 'foot' }],
  ])('if the %s changes', async (_, changed) => {
    await put();
    const { body } = await put(changed);
    expect(requests).toHaveLength(2);
    expect(body.geofence.geometry.coordinates[0]).toEqual(squareAbout(requests[1]!).ring);
  });

  test('after it was a circle meanwhile, whose record names no source', async () => {
    await put();
    const circle = (await put({ type: 'circle', radius: 100 })).body.geofence;
    expect(circle).not.toHaveProperty('geometrySource');
    await put();
    expect(requests).toHaveLength(2);
  });
});

test('a refused edit keeps the stored geometry', async () => {
  const before = (await put()).body.geofence;
  answer = refusal('outside_road_data', 'no road is near the point', 'coordinates');
  expect(await put({ radius: 20 })).toMatchObject({
    status: 400,
    body: {
      meta: { type: 'outside_road_data', param: 'coordinates', message: 'coordinates: no road is near the point' },
    },
  });
  expect(await stored()).toEqual(before);
});

test('an update by id of a geofence that does not exist asks no provider', async () => {
  expect((await api.call('PUT', `/v1/geofences/${'0'.repeat(24)}`, { body: reachable })).status).toBe(404);
  expect(requests).toEqual([]);
});

test('a ring of the maximum size is stored and read back', async () => {
  const [x, y] = [-73.97, 40.78];
  const circle = Array.from({ length: maxRingPoints - 1 }, (_, index): [number, number] => {
    const angle = (2 * Math.PI * index) / (maxRingPoints - 1);
    return [x + Math.cos(angle) / 10, y + Math.sin(angle) / 10];
  });
  const ring = [...circle, circle[0]!];
  answer = { ok: true, value: { ...squareAbout({ center: [x, y], minutes: 1, mode: 'car', project: '' }), ring } };
  await put();
  expect((await stored()).geometry.coordinates).toEqual([ring]);
});

describe('GET /v1/route/isochrone', () => {
  const preview = (query: string) => api.call('GET', `/v1/route/isochrone?${query}`);

  test('answers the area that a geofence would have, and stores nothing', async () => {
    const { status, body } = await preview('coordinates=40.78,-73.97&radius=15&mode=car');
    expect(status).toBe(200);
    expect(requests).toEqual([{ project: api.project.record._id, center: [-73.97, 40.78], minutes: 15, mode: 'car' }]);
    expect(body.isochrone).toEqual({
      geometry: { type: 'Polygon', coordinates: [squareAbout(requests[0]!).ring] },
      source: {
        provider: 'squares',
        providerVersion: '1.0',
        roadDataAt: '2025-12-31T00:00:00.000Z',
        computedAt: '2026-01-02T00:00:00.000Z',
      },
    });
    expect(await stored()).toBeUndefined();
  });

  test.each([
    ['radius=15&mode=car', 'coordinates'],
    ['coordinates=91,0&radius=15&mode=car', 'coordinates'],
    ['coordinates=40,-73&radius=61&mode=car', 'radius'],
    ['coordinates=40,-73&radius=15&mode=boat', 'mode'],
  ])('refuses %s', async (query, param) => {
    const { status, body } = await preview(query);
    expect([status, body.meta.param]).toEqual([400, param]);
    expect(requests).toEqual([]);
  });

  test('passes on what the provider refuses', async () => {
    answer = refusal('outside_road_data', 'the area reaches the edge of the road data', 'radius');
    const { status, body } = await preview('coordinates=40.78,-73.97&radius=15&mode=car');
    expect([status, body.meta.type, body.meta.param]).toEqual([400, 'outside_road_data', 'radius']);
  });
});

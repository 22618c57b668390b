/**
 * Analytics over HTTP: a visit from its two track calls to the three formats of the answer, and the count of a rejected
 * location.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Client, type Json, ok } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
let device: Client;
let backend: Client;
let store: Json;

beforeAll(async () => {
  server = await SharedServer.newProject();
  device = server.as('test_publishable');
  backend = server.as('test_secret');
  store = await backend.putGeofence('one', circle(0, 0, 100), 'store');
  await device.track({ deviceId: 'a', userId: 'ann', ...standing(0, 0) });
  await device.track({ deviceId: 'a', userId: 'ann', ...standing(500, 0) });
  await device.track({ deviceId: 'b', ...standing(0, 0) });
  await device.post('/v1/track', { deviceId: 'a', ...standing(0, 0), accuracy: 'good' });
  // Events, locations and rejections are stored independently of each other.
  await until(async () => (await rows('visits?userId=ann'))[0]?.state === 'ended' && (await rows('inside')).length > 0);
  const stored = async () => (await rows('locations')).reduce((sum, { locations }) => sum + locations, 0);
  await until(async () => (await stored()) === 4);
});

const rows = async (query: string): Promise<Json[]> => ok(await backend.get(`/v1/analytics/${query}`)).rows;

describe('analytics', () => {
  it('lists visits with their ends', async () => {
    expect(await rows('visits?tag=store&userId=ann')).toMatchObject([
      { userId: 'ann', deviceId: 'a', geofence: store._id, tag: 'store', externalId: 'one', state: 'ended' },
    ]);
    expect(await rows('dwell-times')).toMatchObject([{ visits: 1, openVisits: 1 }]);
    expect(await rows('unique-users')).toMatchObject([{ externalId: 'one', users: 2, devices: 2, entries: 2 }]);
    expect(await rows('inside')).toMatchObject([{ externalId: 'one', devices: 1 }]);
  });

  it('counts rejected locations by reason', async () => {
    expect(await rows('locations')).toEqual([
      { result: 'applied', locations: 3 },
      { result: 'rejected', endpoint: 'track', code: 'invalid_parameter', param: 'accuracy', locations: 1 },
    ]);
  });

  it('returns CSV and Parquet files', async () => {
    const csv = await backend.get('/v1/analytics/unique-users?format=csv');
    expect(csv.headers.get('content-type')).toMatch('text/csv');
    expect(csv.body).toBe(
      `"geofence","beacon","tag","externalId","users","devices","entries"\n"${store._id}",,"store","one",2,2,2\n`,
    );
    const parquet = await backend.get('/v1/analytics/visits?format=parquet');
    expect(parquet.body).toMatch(/^PAR1.*PAR1$/s);
  });

  it('keeps environments apart', async () => {
    expect(ok(await server.as('live_secret').get('/v1/analytics/visits')).rows).toEqual([]);
  });
});

it('a time zone that ClickHouse does not know is an invalid parameter, not an internal error', async () => {
  // Node knows this zone. ClickHouse may not, depending on its version.
  const { status, body } = await backend.get('/v1/analytics/entries?timeZone=America/Coyhaique');
  expect({ status, param: body.meta.param }).toEqual(status === 200 ? { status } : { status: 400, param: 'timeZone' });
});

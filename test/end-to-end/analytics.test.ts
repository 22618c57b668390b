/**
 * Questions over plain HTTP: a visit from its two track calls to the three forms of its answer, and what became of a
 * bad location.
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
  // Rejections travel apart from events.
  await until(async () => (await rows('visits?userId=ann'))[0]?.state === 'ended' && (await rows('inside')).length > 0);
  await until(async () => (await rows('locations')).some(({ result }) => result === 'rejected'));
});

const rows = async (question: string): Promise<Json[]> => ok(await backend.get(`/v1/analytics/${question}`)).rows;

describe('what happened', () => {
  it('is told as visits, with their ends', async () => {
    expect(await rows('visits?tag=store&userId=ann')).toMatchObject([
      { userId: 'ann', deviceId: 'a', geofence: store._id, tag: 'store', externalId: 'one', state: 'ended' },
    ]);
    expect(await rows('dwell-times')).toMatchObject([{ visits: 1, openVisits: 1 }]);
    expect(await rows('unique-users')).toMatchObject([{ externalId: 'one', users: 2, devices: 2, entries: 2 }]);
    expect(await rows('inside')).toMatchObject([{ externalId: 'one', devices: 1 }]);
  });

  it('is told of locations that were not taken', async () => {
    expect(await rows('locations')).toEqual([
      { result: 'applied', locations: 3 },
      { result: 'rejected', endpoint: 'track', code: 'invalid_parameter', param: 'accuracy', locations: 1 },
    ]);
  });

  it('comes as files', async () => {
    const csv = await backend.get('/v1/analytics/unique-users?format=csv');
    expect(csv.headers.get('content-type')).toMatch('text/csv');
    expect(csv.body).toBe(
      `"geofence","beacon","tag","externalId","users","devices","entries"\n"${store._id}",,"store","one",2,2,2\n`,
    );
    const parquet = await backend.get('/v1/analytics/visits?format=parquet');
    expect(parquet.body).toMatch(/^PAR1.*PAR1$/s);
  });

  it('belongs to its environment', async () => {
    expect(ok(await server.as('live_secret').get('/v1/analytics/visits')).rows).toEqual([]);
  });
});

it('a zone that the store does not know is the parameter at fault, not a failure of ours', async () => {
  // Node's list has it; the store's may not, by their versions.
  const { status, body } = await backend.get('/v1/analytics/entries?timeZone=America/Coyhaique');
  expect({ status, param: body.meta.param }).toEqual(status === 200 ? { status } : { status: 400, param: 'timeZone' });
});

/** Time passes: geofences that are temporary stop by the clock, without anybody touching them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Client, type Json, ok } from '../support/client.js';
import { circle, eventTypesOf, standing } from '../support/places.js';
import { TestServer } from '../support/server.js';

const aheadMs = 4_000;
const minute = { timeoutMs: 60_000 };

let server: TestServer;
let backend: Client;

beforeAll(async () => {
  server = await TestServer.start({ FENCELINE_EXPIRY_INTERVAL_MS: '1000' });
  backend = server.as('test_secret');
});
afterAll(() => server?.dispose());

const soon = () => new Date(Date.now() + aheadMs).toISOString();

const listedUser = (deviceId: string) =>
  until(async () => {
    const { status, body } = await backend.get(`/v1/users/${deviceId}`);
    return status === 200 && body.user;
  });

describe('a geofence past its deleteAfter', () => {
  it('leaves lists, users and evaluation within a minute', async () => {
    const fence = await backend.putGeofence('pop-up', { ...circle(0, 0, 100), deleteAfter: soon() });
    expect(fence.deleteAfter).toMatch(/Z$/);
    const entry = await backend.track({ deviceId: 'visitor', ...standing(0, 0) });
    expect(eventTypesOf(entry.events)).toEqual(['user.entered_geofence']);
    expect((await listedUser('visitor')).geofences).toHaveLength(1);

    await until(async () => (await backend.get('/v1/geofences/test/pop-up')).status === 404, minute);
    await until(
      async () => !ok(await backend.get('/v1/geofences')).geofences.some((item: Json) => item._id === fence._id),
      minute,
    );
    expect((await backend.get(`/v1/geofences/${fence._id}`)).status).toBe(404);
    expect((await listedUser('visitor')).geofences).toEqual([]);

    const silent = await backend.track({ deviceId: 'visitor', ...standing(900, 0) });
    expect(silent).toMatchObject({ events: [], user: { geofences: [] } });
    expect((await backend.track({ deviceId: 'late visitor', ...standing(0, 0) })).events).toEqual([]);
  });

  it('is taken back into use when it is put again', async () => {
    await backend.putGeofence('again', {
      ...circle(3_000, 0, 100),
      deleteAfter: new Date(Date.now() - 1_000).toISOString(),
    });
    expect((await backend.track({ deviceId: 'first', ...standing(3_000, 0) })).events).toEqual([]);
    await backend.putGeofence('again', circle(3_000, 0, 100));
    expect((await backend.track({ deviceId: 'second', ...standing(3_000, 0) })).events).toHaveLength(1);
  });
});

describe('a geofence past its disableAfter', () => {
  it('stays, shown as disabled, and makes no events', async () => {
    await backend.putGeofence('sale', { ...circle(6_000, 0, 100), disableAfter: soon() });
    expect((await backend.track({ deviceId: 'shopper', ...standing(6_000, 0) })).events).toHaveLength(1);
    const disabled = await until(async () => {
      const { geofence } = ok(await backend.get('/v1/geofences/test/sale'));
      return !geofence.enabled && geofence;
    }, minute);
    expect(disabled.disableAfter).toMatch(/Z$/);
    const left = await backend.track({ deviceId: 'shopper', ...standing(9_000, 0) });
    expect(left).toMatchObject({ events: [], user: { geofences: [] } });
    expect((await backend.track({ deviceId: 'latecomer', ...standing(6_000, 0) })).events).toEqual([]);
  });
});

describe('deleting', () => {
  it('is at once, and in silence', async () => {
    await backend.putGeofence('gone', circle(12_000, 0, 100));
    expect((await backend.track({ deviceId: 'tenant', ...standing(12_000, 0) })).events).toHaveLength(1);
    expect(ok(await backend.delete('/v1/geofences/test/gone'))).toEqual({ meta: { code: 200 } });
    const after = await backend.track({ deviceId: 'tenant', ...standing(12_001, 0) });
    expect(after).toMatchObject({ events: [], user: { geofences: [] } });
  });
});

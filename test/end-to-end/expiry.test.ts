/** Temporary geofences end by the clock. */
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Client, type Json, ok } from '../support/client.js';
import { circle, eventTypesOf, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const aheadMs = 1_000;

let server: SharedServer;
let backend: Client;

beforeAll(async () => {
  server = await SharedServer.newProject();
  backend = server.as('test_secret');
});

const soon = () => new Date(Date.now() + aheadMs).toISOString();

const listedUser = (deviceId: string) =>
  until(async () => {
    const { status, body } = await backend.get(`/v1/users/${deviceId}`);
    return status === 200 && body.user;
  });

describe('a geofence past its deleteAfter', () => {
  it('leaves lists, users and evaluation', async () => {
    await backend.putGeofence('pop-up', circle(0, 0, 100));
    const entry = await backend.track({ deviceId: 'visitor', ...standing(0, 0) });
    expect(eventTypesOf(entry.events)).toEqual(['user.entered_geofence']);
    expect((await listedUser('visitor')).geofences).toHaveLength(1);
    // Set only now, so that a slow machine cannot reach it before the visit is listed.
    const fence = await backend.putGeofence('pop-up', { ...circle(0, 0, 100), deleteAfter: soon() });
    expect(fence.deleteAfter).toMatch(/Z$/);

    await until(async () => (await backend.get('/v1/geofences/test/pop-up')).status === 404);
    await until(
      async () => !ok(await backend.get('/v1/geofences')).geofences.some((item: Json) => item._id === fence._id),
    );
    expect((await backend.get(`/v1/geofences/${fence._id}`)).status).toBe(404);
    expect((await listedUser('visitor')).geofences).toEqual([]);

    const silent = await backend.track({ deviceId: 'visitor', ...standing(900, 0) });
    expect(silent).toMatchObject({ events: [], user: { geofences: [] } });
    expect((await backend.track({ deviceId: 'late visitor', ...standing(0, 0) })).events).toEqual([]);
  });

  it('is active again when it is put again', async () => {
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
  it('remains, is disabled, and makes no events', async () => {
    await backend.putGeofence('sale', circle(6_000, 0, 100));
    expect((await backend.track({ deviceId: 'shopper', ...standing(6_000, 0) })).events).toHaveLength(1);
    await backend.putGeofence('sale', { ...circle(6_000, 0, 100), disableAfter: soon() });
    const disabled = await until(async () => {
      const { geofence } = ok(await backend.get('/v1/geofences/test/sale'));
      return !geofence.enabled && geofence;
    });
    expect(disabled.disableAfter).toMatch(/Z$/);
    const left = await backend.track({ deviceId: 'shopper', ...standing(9_000, 0) });
    expect(left).toMatchObject({ events: [], user: { geofences: [] } });
    expect((await backend.track({ deviceId: 'latecomer', ...standing(6_000, 0) })).events).toEqual([]);
  });
});

describe('a deleted geofence', () => {
  it('leaves evaluation immediately and makes no events', async () => {
    await backend.putGeofence('gone', circle(12_000, 0, 100));
    expect((await backend.track({ deviceId: 'tenant', ...standing(12_000, 0) })).events).toHaveLength(1);
    expect(ok(await backend.delete('/v1/geofences/test/gone'))).toEqual({ meta: { code: 200 } });
    const after = await backend.track({ deviceId: 'tenant', ...standing(12_001, 0) });
    expect(after).toMatchObject({ events: [], user: { geofences: [] } });
  });
});

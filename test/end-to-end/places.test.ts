/** A geofence of a place over plain HTTP: events follow the place. */
import { beforeAll, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Client, ok } from '../support/client.js';
import { at, circle, eventTypesOf, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

let device: Client;
let backend: Client;

beforeAll(async () => {
  const server = await SharedServer.newProject();
  device = server.as('test_publishable');
  backend = server.as('test_secret');
});

const putPlace = async (x: number) =>
  ok(await backend.put('/v1/places/kiosk', { name: 'Kiosk', geometry: { type: 'Point', coordinates: at(x, 0) } }));

const eventsAt = async (deviceId: string, eastM: number): Promise<string[]> =>
  eventTypesOf((await device.track({ deviceId, ...standing(eastM, 0) })).events);

it('devices enter where the place is now, not where it was', async () => {
  await putPlace(0);
  await backend.putGeofence('kiosk', { type: 'circle', radius: 100, placeId: 'kiosk' });
  expect(await eventsAt('early', 0)).toEqual(['user.entered_geofence']);

  await putPlace(2_000);
  let late = 0;
  // Each device is new, so its first location inside is an entry.
  await until(async () => (await eventsAt(`late-${late++}`, 2_000)).includes('user.entered_geofence'));
  // From now on every node evaluates with the current place.
  await backend.putGeofence('elsewhere', circle(50_000, 0, 100));
  expect(await eventsAt('too late', 0)).toEqual([]);
  expect(await eventsAt('early', 0)).toEqual(['user.exited_geofence']);
});

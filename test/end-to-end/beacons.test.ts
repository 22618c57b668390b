/** Beacons over plain HTTP: ranged beacons, an empty list, and no list. */
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Client, type Json, ok } from '../support/client.js';
import { at, eventTypesOf, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const uuid = 'B9407F30-F5F8-466E-AFF9-25556B57FE6D';
const uid = '00010203040506070809';

let server: SharedServer;
let device: Client;
let backend: Client;
let devices = 0;

beforeAll(async () => {
  server = await SharedServer.newProject();
  device = server.as('test_publishable');
  backend = server.as('test_secret');
  await backend.putBeacon('door', { type: 'ibeacon', uuid, major: '7', minor: '1', coordinates: at(0, 0) });
  await backend.putBeacon('desk', { type: 'eddystone', uid, instance: '00000000000a', coordinates: at(100, 0) });
  await backend.putBeacon('edge', { type: 'ibeacon', uuid, major: '7', minor: '2', coordinates: at(990, 0) });
  await backend.putBeacon('far', { type: 'ibeacon', uuid, major: '7', minor: '3', coordinates: at(1_010, 0) });
  await backend.putBeacon('off', {
    type: 'ibeacon',
    uuid,
    major: '7',
    minor: '4',
    coordinates: at(0, 0),
    enabled: false,
  });
});

const door = { type: 'ibeacon', uuid: uuid.toLowerCase(), major: '7', minor: '1', rssi: -60 };
const desk = { type: 'eddystone', uid, instance: '00000000000A', rssi: -70 };
const stranger = { type: 'ibeacon', uuid, major: '999', minor: '9' };
const off = { type: 'ibeacon', uuid, major: '7', minor: '4' };

function newDevice() {
  const deviceId = `device-${++devices}`;
  return (fields: object) => device.track({ deviceId, ...standing(0, 0), ...fields });
}
const named = (events: Json[]) => events.map((event) => `${event.type} ${event.beacon.externalId}`);

describe('ranged beacons', () => {
  it('are entered when listed and left when no longer listed', async () => {
    const track = newDevice();
    const both = await track({ beacons: [door, desk] });
    expect(named(both.events).sort()).toEqual(['user.entered_beacon desk', 'user.entered_beacon door']);
    expect(both.events.every((event: Json) => event.confidence === 3)).toBe(true);
    const one = await track({ beacons: [desk] });
    expect(named(one.events)).toEqual(['user.exited_beacon door']);
    expect(one.events[0].duration).toBeGreaterThanOrEqual(0);
    expect(one.user.beacons.map((beacon: Json) => beacon.externalId)).toEqual(['desk']);
  });

  // SDKs read the position of each beacon, and beacons of events lacked it.
  it('are the same in events as in the user, wherever events are read', async () => {
    const track = newDevice();
    // The server is shared, and its topic has many events of other projects.
    const { next } = ok(await backend.get('/v1/topics/events?from=latest'));
    const { events, user } = await track({ beacons: [door] });
    expect(user.beacons[0].geometry).toEqual({ type: 'Point', coordinates: at(0, 0) });
    expect(events[0].beacon).toEqual(user.beacons[0]);
    const { records } = ok(await backend.get(`/v1/topics/events?from=${next}`));
    expect(records.map(({ event }: Json) => event)).toContainEqual(
      expect.objectContaining({ _id: events[0]._id, beacon: user.beacons[0] }),
    );
    const history = await until(async () => {
      const { body } = await backend.get(`/v1/events?deviceId=device-${devices}`);
      return body.events.length > 0 && body.events;
    });
    expect(history[0].beacon).toEqual(user.beacons[0]);
  });

  it('are all left by an empty list', async () => {
    const track = newDevice();
    await track({ beacons: [door, desk] });
    const none = await track({ beacons: [] });
    expect(eventTypesOf(none.events)).toEqual(['user.exited_beacon', 'user.exited_beacon']);
    expect(none.user.beacons).toEqual([]);
  });

  it.each([
    ['the key is absent', {}],
    ['it is null', { beacons: null }],
  ])('stay as they were when %s', async (_what, fields) => {
    const track = newDevice();
    await track({ beacons: [door] });
    const silent = await track(fields);
    expect(silent.events).toEqual([]);
    expect(silent.user.beacons.map((beacon: Json) => beacon.externalId)).toEqual(['door']);
  });

  it('match regardless of case and leading zeros', async () => {
    const track = newDevice();
    const { events, user } = await track({ beacons: [{ ...door, uuid: uuid.toUpperCase(), major: '0007', minor: 1 }] });
    expect(named(events)).toEqual(['user.entered_beacon door']);
    expect(user.beacons[0]).toMatchObject({ type: 'ibeacon', major: '7', minor: '1' });
  });

  it('are ignored when unknown or disabled', async () => {
    const track = newDevice();
    const { events, user } = await track({ beacons: [stranger, off] });
    expect(events).toEqual([]);
    expect(user.beacons).toEqual([]);
  });

  it('cause no exit event after they were disabled', async () => {
    const fields = { type: 'ibeacon', uuid, major: '8', minor: '1', coordinates: at(0, 0) };
    await backend.putBeacon('retired', fields);
    const track = newDevice();
    expect((await track({ beacons: [{ ...door, major: '8' }] })).events).toHaveLength(1);
    await backend.putBeacon('retired', { ...fields, enabled: false });
    const after = await track({ beacons: [] });
    expect(after.events).toEqual([]);
    expect(after.user.beacons).toEqual([]);
  });
});

describe('beacons nearby', () => {
  const search = async (query: string) => ok(await device.get(`/v1/search/beacons?${query}`));
  const { latitude, longitude } = standing(0, 0);
  const near = `near=${latitude},${longitude}`;

  it('are the enabled beacons within a kilometre, nearest first', async () => {
    const { beacons } = await search(`${near}&radius=1000&limit=10`);
    expect(beacons.map((beacon: Json) => beacon.externalId)).toEqual(['door', 'desk', 'edge']);
    expect(beacons[0]).toMatchObject({ major: '7', minor: '1', geometry: { type: 'Point' } });
  });

  it('are bounded by the limit', async () => {
    expect((await search(`${near}&radius=1000&limit=1`)).beacons).toHaveLength(1);
  });

  it('include the identifiers that SDKs range anywhere', async () => {
    ok(await backend.put('/v1/settings', { beaconUuids: [uuid], beaconUids: [uid] }));
    const { meta } = await search(`${near}&radius=1000&limit=10`);
    expect(meta.settings.beacons).toEqual({ uuids: [uuid.toLowerCase()], uids: [uid] });
    ok(await backend.put('/v1/settings', { beaconUuids: [], beaconUids: [] }));
    const empty = (await search(`${near}&radius=1000&limit=10`)).meta.settings?.beacons;
    expect([...(empty?.uuids ?? []), ...(empty?.uids ?? [])]).toEqual([]);
  });
});

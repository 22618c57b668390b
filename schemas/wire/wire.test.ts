/** The API's JSON conforms to the published JSON Schemas and agrees with the records. */
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import Format from 'typebox/format';
import { describe, expect, test } from 'vitest';
import { Beacon, type BeaconRecord } from '../json/beacon.js';
import { Geofence, type GeofenceRecord, GeofenceSummary } from '../json/geofence.js';
import { Event, User } from '../json/user.js';
import * as arbitrary from '../testing/records.js';
import { isoTime, quoted, withoutUnset } from './common.js';
import {
  beaconJson,
  beaconSummary,
  circleRing,
  eventBeacon,
  eventGeofence,
  geofenceJson,
  geofenceSummary,
} from './geofence.js';
import { eventJson, userJson } from './user.js';

const schemas = {
  geofence: Compile(Geofence),
  geofenceSummary: Compile(GeofenceSummary),
  beacon: Compile(Beacon),
  user: Compile(User),
  event: Compile(Event),
};

function expectToObey(schema: keyof typeof schemas, value: unknown): void {
  const sent = JSON.parse(JSON.stringify(value));
  expect(schemas[schema].Errors(sent)).toEqual([]);
}

const geofence: GeofenceRecord = {
  _id: 'a'.repeat(24),
  project: 'b'.repeat(24),
  environment: 'live',
  createdAt: Date.UTC(2018, 5, 12, 13, 44, 10, 535),
  updatedAt: Date.UTC(2018, 5, 13),
  tag: 'store',
  externalId: '123',
  description: 'Store 123',
  type: 'circle',
  center: [-73.9759, 40.7831],
  radius: 100,
  ring: null,
  mode: null,
  enabled: true,
  metadata: null,
  operatingHours: null,
  timeZone: 'America/New_York',
  stopDetection: null,
  dwellThreshold_min: null,
  disableAfter: null,
  deleteAfter: null,
  userIds: null,
  ip: null,
};

const beacon: BeaconRecord = {
  _id: 'c'.repeat(24),
  project: 'b'.repeat(24),
  environment: 'test',
  createdAt: 1,
  updatedAt: 2,
  tag: null,
  externalId: null,
  description: 'Door',
  type: 'ibeacon',
  group: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
  major: '100',
  minor: '1',
  coordinates: [-73.9759, 40.7831],
  enabled: true,
  metadata: null,
};

test('times have milliseconds and a Z, which the iOS SDK requires', () => {
  expect(isoTime(geofence.createdAt)).toBe('2018-06-12T13:44:10.535Z');
  fc.assert(
    fc.property(fc.integer({ min: -2_208_988_800_000, max: 4_102_444_800_000 }), (time) => {
      expect(isoTime(time + 0.25)).toBe(new Date(time).toISOString());
      expect(isoTime(time)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Format.Test('date-time', isoTime(time))).toBe(true);
    }),
  );
});

test('omits unset fields, but not false, zero and empty values', () => {
  expect(withoutUnset({ a: null, b: undefined, c: false, d: 0, e: '', f: 'x' })).toEqual({
    c: false,
    d: 0,
    e: '',
    f: 'x',
  });
});

describe('geofences', () => {
  test('shows a minimal circle with the common fields and a ring', () => {
    const json = geofenceJson(geofence, 0);
    expectToObey('geofence', json);
    expect(Object.keys(json).sort()).toEqual(
      [
        '_id',
        'createdAt',
        'description',
        'enabled',
        'externalId',
        'geometry',
        'geometryCenter',
        'geometryRadius',
        'live',
        'tag',
        'type',
        'updatedAt',
      ].sort(),
    );
    expect(json.geometry?.coordinates[0]).toHaveLength(33);
    const { ring: _, ...head } = geofence;
    const { geometry: __, ...shown } = geofenceJson(geofence, 0);
    expect(geofenceJson(head, 0)).toEqual(shown);
  });

  test('shows all fields of a polygon', () => {
    const ring: GeofenceRecord['ring'] = [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ];
    const full: GeofenceRecord = {
      ...geofence,
      type: 'polygon',
      ring,
      metadata: { size: 3, open: true, name: 'x' },
      operatingHours: { Mon: [['09:00', '17:00']] },
      stopDetection: false,
      dwellThreshold_min: 0,
      disableAfter: 10,
      deleteAfter: 20,
      userIds: ['ann', 'bob'],
      ip: '192.0.2.*',
    };
    const json = geofenceJson(full, 0);
    expectToObey('geofence', json);
    expect(json).toMatchObject({
      geometry: { type: 'Polygon', coordinates: [ring] },
      stopDetection: false,
      dwellThreshold: 0,
      disableAfter: isoTime(10),
      deleteAfter: isoTime(20),
      userIds: 'ann,bob',
      ip: '192.0.2.*',
    });
  });

  test.each([
    [true, null, 99, true],
    [true, 100, 100, true],
    [true, 100, 101, false],
    [false, null, 0, false],
  ])('enabled %s, disableAfter %s, at %s: %s', (enabled, disableAfter, nowMs, expected) => {
    expect(geofenceJson({ ...geofence, enabled, disableAfter }, nowMs).enabled).toBe(expected);
  });

  /** A client that sent back what it had read made three users of two. */
  test('user ids with commas are written so that they are read as the same list', () => {
    const users = ['a,b', 'c', '[d'];
    const shown = (userIds: string[] | null) => geofenceJson({ ...geofence, userIds }, 0).userIds;
    expect(JSON.parse(shown(users)!)).toEqual(users);
    expect(JSON.parse(shown(['[d', 'c'])!)).toEqual(['[d', 'c']);
    expect([shown(['c', 'd']), shown(null)]).toEqual(['c,d', undefined]);
  });

  test('the ring of a circle is closed, within the world, and at the radius', () => {
    const longitude = fc.double({ min: -180, max: 180, noNaN: true });
    const latitude = fc.double({ min: -85, max: 85, noNaN: true });
    fc.assert(
      fc.property(longitude, latitude, fc.integer({ min: 10, max: 10_000 }), (x, y, radius) => {
        const ring = circleRing([x, y], radius);
        expect(ring).toHaveLength(33);
        expect(ring.at(-1)).toEqual(ring[0]);
        for (const [longitude, latitude] of ring) {
          expect(Math.abs(longitude)).toBeLessThanOrEqual(180);
          const east = ((((longitude - x + 540) % 360) - 180) * Math.cos((y * Math.PI) / 180) * Math.PI) / 180;
          const north = ((latitude - y) * Math.PI) / 180;
          expect(Math.hypot(east, north) * 6_371_000).toBeCloseTo(radius, 1);
        }
      }),
    );
  });

  test('the summary is the same from the record and from an event', () => {
    const withMetadata = { ...geofence, metadata: { size: 3 } };
    expectToObey('geofenceSummary', geofenceSummary(withMetadata));
    const fromEvent = eventJson({ ...bareEvent, geofence: eventGeofence(withMetadata) }).geofence;
    expect(fromEvent).toEqual(geofenceSummary(withMetadata));
  });
});

describe('beacons', () => {
  test('identifiers are strings, named by the type of the beacon', () => {
    expectToObey('beacon', beaconJson(beacon));
    expect(beaconSummary(beacon)).toMatchObject({ uuid: beacon.group, major: '100', minor: '1' });
    const eddystone: BeaconRecord = {
      ...beacon,
      type: 'eddystone',
      group: '0123456789abcdef0123',
      major: '',
      minor: 'abcdef012345',
    };
    expectToObey('beacon', beaconJson(eddystone));
    expect(beaconSummary(eddystone)).toMatchObject({ uid: eddystone.group, instance: eddystone.minor });
    expect(beaconSummary(eddystone)).not.toHaveProperty('major');
  });

  test('an event contains the beacon', () => {
    // It lacked `enabled` and `geometry`, which SDKs read of each beacon.
    const ofEvent = { ...bareEvent, beacon: eventBeacon(beacon) };
    expect(eventJson(ofEvent).beacon).toEqual(beaconSummary(beacon));
    // Events of earlier releases don't tell the position.
    const { geometry: _, ...rest } = beaconSummary(beacon);
    const ofEarlierRelease = { ...ofEvent, beacon: { ...ofEvent.beacon, longitude: null, latitude: null } };
    expect(eventJson(ofEarlierRelease).beacon).toEqual(rest);
  });
});

const bareEvent = {
  id: 'd'.repeat(24),
  type: 'user.entered_geofence',
  project: 'b'.repeat(24),
  environment: 'test' as const,
  createdAt: 1,
  actualCreatedAt: 2,
  locationId: null,
  user: null,
  geofence: null,
  beacon: null,
  longitude: null,
  latitude: null,
  accuracy_m: null,
  confidence: 3,
  duration_min: null,
  currentlyOperating: null,
  foreground: null,
  stopped: null,
  replayed: false,
  source: null,
  metadata: null,
  metadataOmitted: false,
};

test('an event with all fields unset has only the common fields', () => {
  expectToObey('event', eventJson(bareEvent));
  expect(Object.keys(eventJson(bareEvent)).sort()).toEqual(
    ['_id', 'actualCreatedAt', 'confidence', 'createdAt', 'live', 'replayed', 'type'].sort(),
  );
});

test('every event conforms to its schema', () => {
  fc.assert(fc.property(arbitrary.event, (event) => expectToObey('event', eventJson(event))));
});

test('every user conforms to its schema and omits unset fields', () => {
  fc.assert(
    fc.property(arbitrary.location, arbitrary.location, ({ id, environment, deviceId, userId }, last) => {
      const json = userJson({
        id,
        environment,
        deviceId,
        userId,
        createdAt: 1,
        profile: { deviceOS: '17.1' },
        last,
        geofences: [geofenceSummary(geofence)],
        beacons: [beaconSummary(beacon)],
      });
      expectToObey('user', json);
      expect(json.deviceOS).toBe('17.1');
      expect('userId' in json).toBe(userId !== null);
      expect('ip' in json).toBe(last.ip !== null);
      expect(Object.values(json)).not.toContain(null);
    }),
  );
});

test('quotes any text as JSON.stringify does', () => {
  const unit = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 1 }),
    fc.constantFrom('"', '\\', '\n', '\0', '\u001f', '\u007f', '\ud800', '\udfff', '\u2028'),
  );
  fc.assert(fc.property(fc.string({ unit, maxLength: 6 }), (text) => quoted(text) === JSON.stringify(text)));
});

import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { deviceKey } from '../../pipeline/records/device-key.js';
import { dayMs } from '../../schemas/durations.js';
import { maxAccuracyM, type Receipt, readLocation } from './request.js';
import { TrackRequest } from './schema.js';

const receipt: Receipt = {
  project: 'a'.repeat(24),
  environment: 'test',
  receivedAt: Date.UTC(2026, 5, 1),
  ip: '192.0.2.1',
  replayed: false,
  replyTo: 'node/1',
};
const good = { deviceId: 'phone', latitude: 40.5, longitude: -73.9, accuracy: 12 };
const read = (fields: object) => readLocation({ ...good, ...fields }, receipt);
const outcome = (fields: object) => {
  const result = read(fields);
  return result.ok ? result.value : `${result.problem.param}: ${result.problem.rule}`;
};

it('makes a location from the required fields alone', () => {
  expect(outcome({})).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    project: receipt.project,
    environment: 'test',
    deviceId: 'phone',
    userId: null,
    latitude: 40.5,
    longitude: -73.9,
    accuracy_m: 12,
    occurredAt: receipt.receivedAt,
    receivedAt: receipt.receivedAt,
    deviceTimed: false,
    foreground: false,
    stopped: false,
    replayed: false,
    beacons: null,
    ip: '192.0.2.1',
    source: null,
    replyTo: 'node/1',
    details: null,
  });
});

describe('a field', () => {
  it.each([
    [
      'texts of numbers',
      { latitude: '40.78', longitude: ' -73.9 ', accuracy: '65' },
      { latitude: 40.78, longitude: -73.9, accuracy_m: 65 },
    ],
    ['exactly zero', { latitude: 0, longitude: '0', accuracy: 0 }, { latitude: 0, longitude: 0, accuracy_m: 0 }],
    ['texts of booleans', { foreground: 'true', stopped: 'false' }, { foreground: true, stopped: false }],
    ['numbers for booleans', { foreground: 1, stopped: '0' }, { foreground: true, stopped: false }],
    [
      'nulls',
      { userId: null, foreground: null, stopped: null, beacons: null, metadata: null, tripOptions: null },
      { userId: null, beacons: null },
    ],
    ['empty texts', { userId: '', foreground: '', beacons: '' }, { userId: null, foreground: false, beacons: null }],
    ['a number for a user', { userId: 42 }, { userId: '42' }],
    ['unknown keys', { desiredAccuracy: 'high', userTags: ['a'], __proto__: { stopped: true } }, { stopped: false }],
    ['replayed', { replayed: 'true' }, { replayed: true }],
    ['a source', { source: 'BACKGROUND_LOCATION' }, { source: 'BACKGROUND_LOCATION' }],
    ['no accuracy from the web', { deviceType: 'Web', accuracy: undefined }, { accuracy_m: 0 }],
    [
      'the accuracy of a browser that locates by IP address',
      { deviceType: 'Web', accuracy: 250_000 },
      { accuracy_m: 250_000 },
    ],
    ['accuracy from the web', { deviceType: 'Web', accuracy: 30 }, { accuracy_m: 30 }],
  ])('%s', (_what, fields, expected) => {
    expect(outcome(fields)).toMatchObject(expected);
  });

  it.each([
    [{ deviceId: undefined }, 'deviceId: is required'],
    [{ deviceId: '' }, 'deviceId: is required'],
    [{ deviceId: {} }, 'deviceId: must be text of at most 256 characters'],
    [{ deviceId: 'x'.repeat(257) }, 'deviceId: must be text of at most 256 characters'],
    [{ userId: 'x'.repeat(257) }, 'userId: must be text of at most 256 characters'],
    // JSON numbers beyond 2^53 are rounded: two devices had one state.
    [{ deviceId: JSON.parse('12345678901234567891') }, 'deviceId: must be text of at most 256 characters'],
    [{ userId: 2 ** 53 }, 'userId: must be text of at most 256 characters'],
    [{ userId: [1] }, 'userId: must be text of at most 256 characters'],
    [{ latitude: undefined }, 'latitude: is required'],
    [{ latitude: null }, 'latitude: is required'],
    [{ latitude: 90.000001 }, 'latitude: must be a number from -90 to 90'],
    [{ latitude: 'north' }, 'latitude: must be a number from -90 to 90'],
    [{ latitude: Number.NaN }, 'latitude: must be a number from -90 to 90'],
    [{ longitude: -180.000001 }, 'longitude: must be a number from -180 to 180'],
    [{ longitude: '1e400' }, 'longitude: must be a number from -180 to 180'],
    [{ accuracy: undefined }, 'accuracy: is required'],
    [{ accuracy: null, deviceType: 'iOS' }, 'accuracy: is required'],
    [{ accuracy: 20_037_509 }, 'accuracy: must be a number from 0 to 20037508 metres'],
    [{ accuracy: -1 }, 'accuracy: must be a number from 0 to 20037508 metres'],
    [{ accuracy: -1, deviceType: 'Web' }, 'accuracy: must be a number from 0 to 20037508 metres'],
    [{ accuracy: Number.POSITIVE_INFINITY }, 'accuracy: must be a number from 0 to 20037508 metres'],
    [{ foreground: 'yes' }, 'foreground: must be true or false'],
    [{ stopped: 2 }, 'stopped: must be true or false'],
    [{ replayed: {} }, 'replayed: must be true or false'],
    [
      { updatedAt: 'soon' },
      'updatedAt: must be a date or an ISO 8601 date and time, such as 2029-01-01 or 2029-01-01T09:30:00Z',
    ],
    [{ updatedAt: '1999-12-31' }, 'updatedAt: must not be before the year 2000'],
    [{ beacons: {} }, 'beacons: must be a list'],
    [{ beacons: '[{' }, 'beacons: must be valid JSON: column 3: expected a key in double quotes, not the end'],
    [{ beacons: Array(1_001).fill({}) }, 'beacons: must be a list of at most 1000 items'],
    [{ metadata: { a: [] } }, 'metadata.a: must be a string, a number or a boolean'],
    [{ metadata: { text: 'x'.repeat(20_000) } }, 'metadata: must be at most 16384 characters of JSON'],
    [{ anonymous: true }, 'anonymous: is not supported: a location requires its own deviceId'],
  ])('%j -> %s', (fields, expected) => {
    expect(outcome(fields)).toBe(expected);
  });
});

describe('beacons', () => {
  const uuid = 'B9407F30-F5F8-466E-AFF9-25556B57FE6D';
  const normal = { type: 'ibeacon', group: uuid.toLowerCase(), major: '1', minor: '2', rssi_dbm: -70 };

  it.each([
    ['absent', undefined, null],
    ['none in range', [], []],
    ['none in range, in a form', '[]', []],
    ['one', [{ type: 'ibeacon', uuid, major: '01', minor: 2, rssi: -70 }], [normal]],
    ['one, in a form', JSON.stringify([{ type: 'ibeacon', uuid, major: '1', minor: '2', rssi: -70 }]), [normal]],
    [
      'broken ones beside it',
      [null, 7, {}, { type: 'ibeacon', uuid }, { type: 'ibeacon', uuid, major: 1, minor: 2, rssi: -70 }],
      [normal],
    ],
    [
      'with a geometry that Android garbles',
      [{ type: 'ibeacon', uuid, major: '1', minor: '2', rssi: -70, geometry: '[I@1' }],
      [normal],
    ],
  ])('%s', (_what, beacons, expected) => {
    expect(outcome({ beacons })).toMatchObject({ beacons: expected });
  });
});

describe('the details of a device', () => {
  it('are kept, and unreadable ones are left out', () => {
    const told = {
      installId: 'i',
      sessionId: 1_700_000_000,
      description: 'x'.repeat(5_000),
      metadata: '{"plan":"gold","visits":3,"old":null}',
      deviceMake: { name: 'Apple' },
      altitude: '12.5',
      speed: -1,
      course: 'north',
      nearbyGeofences: 'true',
    };
    expect(outcome(told)).toMatchObject({
      details: {
        installId: 'i',
        sessionId: '1700000000',
        description: 'x'.repeat(1_000),
        metadata: '{"plan":"gold","visits":3}',
        deviceMake: null,
        altitude_m: 12.5,
        speed_mps: -1,
        course_deg: null,
        nearbyGeofences: true,
      },
    });
  });
});

describe('any input', () => {
  const ageMs = fc.nat({ max: dayMs });
  const plausible: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    deviceId: fc.string({ minLength: 1 }),
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    accuracy: fc.double({ min: 0, max: maxAccuracyM, noNaN: true }),
    userId: fc.string(),
    foreground: fc.boolean(),
    stopped: fc.boolean(),
    beacons: fc.constant([]),
    metadata: fc.dictionary(fc.string(), fc.integer()),
    updatedAt: ageMs.map((age) => new Date(receipt.receivedAt - age).toISOString()),
    updatedAtMs: ageMs.map((age) => receipt.receivedAt - age),
    deviceType: fc.constantFrom('iOS', 'Android', 'Web'),
    source: fc.string(),
  };
  /** Each field is missing, plausible or anything, so that some locations are accepted and others refused. */
  const anything = fc.record(
    Object.fromEntries(
      Object.entries(plausible).map(([name, arbitrary]) => [
        name,
        fc.oneof({ weight: 9, arbitrary }, { weight: 1, arbitrary: fc.anything() }),
      ]),
    ),
    { requiredKeys: [] },
  );

  it('is a location that evaluation can rely on, or a named problem; never an exception', () => {
    let accepted = 0;
    fc.assert(
      fc.property(anything, fc.double(), fc.double(), fc.double(), (fields, latitude, longitude, accuracy) => {
        for (const body of [
          fields,
          { ...fields, deviceId: 'd', latitude, longitude, accuracy },
          { ...good, ...fields },
        ]) {
          const result = readLocation(body, receipt);
          if (!result.ok) {
            expect(result.problem.param.length).toBeGreaterThan(0);
            continue;
          }
          accepted += 1;
          const location = result.value;
          expect(Math.abs(location.latitude)).toBeLessThanOrEqual(90);
          expect(Math.abs(location.longitude)).toBeLessThanOrEqual(180);
          expect(location.accuracy_m >= 0 && Number.isFinite(location.accuracy_m)).toBe(true);
          expect(location.deviceId.length).toBeGreaterThan(0);
        }
      }),
    );
    expect(accepted).toBeGreaterThan(10);
  });

  it('is accepted where the published schema accepts it', () => {
    const schema = Compile(TrackRequest);
    let accepted = 0;
    fc.assert(
      fc.property(anything, (fields) => {
        const body = { ...good, ...fields };
        if (!schema.Check(body)) return;
        accepted += 1;
        expect(readLocation(body, receipt)).toMatchObject({ ok: true });
      }),
    );
    expect(accepted).toBeGreaterThan(10);
  });
});

it('keys a device by project, environment and device', () => {
  expect(deviceKey({ project: 'p', environment: 'live', deviceId: 'd/1' })).toBe('p/live/d/1');
});

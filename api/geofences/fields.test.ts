import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import type { RawFields } from '../../http/fields/reader.js';
import { parseForm } from '../../http/requests/bodies.js';
import { GeofenceRecord } from '../../schemas/json/geofence.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { anyCharacter } from '../../testing/any-character.js';
import { isSought, type PlainGeofence, readGeofence, readPlainGeofence } from './fields.js';
import { geofenceRecord } from './record.js';

const circle = {
  description: 'Store 123',
  type: 'circle',
  tag: 'store',
  externalId: '123',
  coordinates: [-73.97, 40.78],
  radius: 100,
};

function input(fields: RawFields, path?: { tag: string; externalId: string }): PlainGeofence {
  const outcome = readPlainGeofence(fields, path);
  if (!outcome.ok) throw outcome.error;
  return outcome.value;
}

function refused(fields: RawFields): string {
  const outcome = readGeofence(fields);
  if (outcome.ok) throw new Error('not refused');
  expect(outcome.error.message).toMatch(new RegExp(`^${outcome.error.param}: `));
  return `${outcome.error.code} ${outcome.error.message}`;
}

/** A closed regular polygon of `corners` corners about a point, so `corners + 1` coordinates. */
const regularRing = (corners: number): number[][] => {
  const ring = Array.from({ length: corners }, (_, index) => {
    const angle = (2 * Math.PI * index) / corners;
    return [-73.97 + 0.01 * Math.cos(angle), 40.78 + 0.01 * Math.sin(angle)];
  });
  return [...ring, ring[0]!];
};
const isochrone = { ...circle, type: 'isochrone', radius: 15, mode: 'car' };
const polygon = (coordinates: unknown) => ({ ...circle, type: 'polygon', coordinates });

test('a circle in normal form', () => {
  expect(input(circle)).toEqual({
    description: 'Store 123',
    type: 'circle',
    tag: 'store',
    externalId: '123',
    center: [-73.97, 40.78],
    radius: 100,
    ring: null,
    mode: null,
    enabled: true,
    metadata: null,
    operatingHours: null,
    stopDetection: null,
    dwellThreshold_min: null,
    disableAfter: null,
    deleteAfter: null,
    userIds: null,
    ip: null,
  });
});

test('of an isochrone the destination, the minutes and the mode are read, the ring is computed later', () => {
  expect(readGeofence({ ...isochrone, radius: '7.5', mode: 'Bike' })).toMatchObject({
    ok: true,
    value: { type: 'isochrone', center: [-73.97, 40.78], radius: 7.5, mode: 'bike', ring: null },
  });
});

test('an isochrone is refused where no area is computed, as in a replay: it would be a circle', () => {
  expect(readPlainGeofence(isochrone)).toMatchObject({ ok: false, error: { code: 'not_available', param: 'type' } });
});

test('text and typed values mean the same', () => {
  const typed = {
    ...circle,
    enabled: false,
    metadata: { open: true, floors: 2, name: 'x' },
    operatingHours: { Mon: [['09:00', '17:00']] },
    stopDetection: true,
    dwellThreshold: 2.5,
    userIds: ['a', 'b'],
  };
  const text = Object.fromEntries(
    Object.entries({ ...typed, userIds: 'a,b' }).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
  expect(input(text)).toEqual(input(typed));
});

test('empty text, null and absent mean not given', () => {
  const optional = [
    'enabled',
    'metadata',
    'operatingHours',
    'stopDetection',
    'dwellThreshold',
    'disableAfter',
    'userIds',
    'ip',
  ];
  for (const nothing of ['', ' ', null, undefined]) {
    expect(input({ ...circle, ...Object.fromEntries(optional.map((name) => [name, nothing])) })).toEqual(input(circle));
  }
});

test('the path names the pair', () => {
  const path = { tag: 'a/b', externalId: 'é #1' };
  expect(input({ ...circle, tag: 'other', externalId: 7 }, path)).toMatchObject(path);
  expect(input({ ...circle, externalId: 7 }).externalId).toBe('7');
});

test('types are read in any case', () => expect(input({ ...circle, type: 'Circle' }).type).toBe('circle'));

// A list in JSON was read as a repeated field of a form.
test('of a field that a form repeats the last value counts, and a list in its place is refused', () => {
  expect(input({ ...circle, ...parseForm('tag=a&tag=b&type=polygon&type=circle') })).toMatchObject({
    tag: 'b',
    type: 'circle',
  });
  expect(refused({ ...circle, tag: ['a', 'b'] })).toBe('invalid_parameter tag: must be text');
  expect(refused({ ...circle, type: ['circle'] })).toBe(
    'invalid_parameter type: must be one of circle, polygon, isochrone',
  );
});

describe('a position that is sought', () => {
  const { coordinates: _, ...nowhere } = circle;
  test.each([
    [
      { ...nowhere, address: ' Paris, TX ' },
      { center: null, radius: 100, sought: { address: ' Paris, TX ', placeId: null } },
    ],
    [
      { ...circle, address: 'Paris' },
      { center: [-73.97, 40.78], sought: { address: 'Paris', placeId: null } },
    ],
    [
      { ...nowhere, placeId: 7 },
      { center: null, radius: 100, sought: { address: null, placeId: '7' } },
    ],
    [
      { ...nowhere, type: 'polygon', radius: '', placeId: 'p' },
      { center: null, radius: null, ring: null, sought: { address: null, placeId: 'p' } },
    ],
  ])('%j', (fields, expected) => {
    expect(readGeofence(fields)).toMatchObject({ ok: true, value: expected });
    expect(readPlainGeofence(fields)).toMatchObject({ ok: false, error: { code: 'not_available' } });
  });
});

describe('polygons', () => {
  test('centre and radius follow from the ring; radius, address and the list that GeoJSON adds are ignored', () => {
    const { center, radius, ring } = input({ ...polygon(regularRing(4)), radius: 'far', address: 'somewhere' });
    expect(center[0]).toBeCloseTo(-73.97, 6);
    expect(center[1]).toBeCloseTo(40.78, 6);
    expect(radius).toBeGreaterThan(1_100);
    expect(radius).toBeLessThan(1_120);
    expect(ring).toHaveLength(5);
    expect(input(polygon(JSON.stringify([regularRing(4)]))).ring).toEqual(ring);
    expect(input(polygon(regularRing(4).map((position) => position.map(String)))).ring).toEqual(ring);
  });

  test('4 and 2,000 coordinates are accepted', () => {
    expect(input(polygon(regularRing(3))).ring).toHaveLength(4);
    expect(input(polygon(regularRing(1_999))).ring).toHaveLength(2_000);
  });

  test.each([
    ['3 coordinates', regularRing(2)],
    ['2,001 coordinates', regularRing(2_000)],
    ['an open ring', regularRing(5).slice(0, -1)],
    ['NaN', [[Number.NaN, 0], ...regularRing(4).slice(1)]],
    [
      'a latitude of 91',
      [
        [0, 91],
        [1, 0],
        [1, 1],
        [0, 91],
      ],
    ],
    ['four numbers', regularRing(4).map((position) => [...position, 0, 0])],
    [
      'a bow tie',
      [
        [0, 0],
        [1, 1],
        [1, 0],
        [0, 1],
        [0, 0],
      ],
    ],
    [
      'no area',
      [
        [0, 0],
        [1, 1],
        [2, 2],
        [0, 0],
      ],
    ],
    ['a point', [0, 0]],
    ['broken JSON', '[[0,0],'],
    ['text', 'here'],
  ])('%s is refused', (_, coordinates) =>
    expect(refused(polygon(coordinates))).toMatch(/^invalid_parameter coordinates: must /),
  );
});

describe('operating hours', () => {
  const hours = { Mon: [['09:00', '17:30']], Sun: [['22:00', '02:00']] };
  test.each([
    ['a dictionary', { operatingHours: { monday: [['9:00 AM', '5:30 PM']], SUN: [['22:00', '02:00']] } }],
    ['JSON text', { operatingHours: '{"mon":[["9:00","17:30"]],"sunday":[["10:00 pm","2:00 am"]]}' }],
    ['by day', { 'operatingHours.Mon': '[["09:00","17:30"]]', 'operatingHours.sunday': '[["22:00","02:00"]]' }],
    [
      'by day in brackets',
      { 'operatingHours[mon]': '[["09:00","17:30"]]', 'operatingHours[sun]': [['22:00', '02:00']] },
    ],
    ['days as JSON text', { operatingHours: { mon: '[["09:00","17:30"]]', sun: '[["22:00","02:00"]]' } }],
    [
      'an empty column beside',
      {
        'operatingHours.mon': '[["09:00","17:30"]]',
        'operatingHours.sun': '[["22:00","02:00"]]',
        'operatingHours.tue': '',
      },
    ],
  ])('as %s', (_, fields) => expect(input({ ...circle, ...fields }).operatingHours).toEqual(hours));
});

describe('metadata', () => {
  const sixteenKeys = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, index]));
  test.each([
    ['a dictionary', { metadata: { a: 1, b: true } }, { a: 1, b: true }],
    ['JSON text', { metadata: '{"a":1,"b":true}' }, { a: 1, b: true }],
    ['by key, which stays text', { 'metadata.a': '1', 'metadata.b': 'true', 'metadata.c': '' }, { a: '1', b: 'true' }],
    ['by key in brackets', { 'metadata[a]': '1' }, { a: '1' }],
    ['with null', { metadata: { a: 1, b: null } }, { a: 1 }],
    ['16 keys', { metadata: sixteenKeys }, sixteenKeys],
  ])('as %s', (_, fields, expected) => {
    expect(input({ ...circle, ...fields }).metadata).toEqual(expected);
  });

  // The parser of bodies refuses it in an object.
  test.each([{ 'metadata.__proto__': '1' }, { 'metadata[__proto__]': '1' }, { metadata: '{"__proto__":1}' }])(
    'by %j is refused as in an object',
    (fields) => {
      expect(refused({ ...circle, ...fields })).toBe('invalid_parameter metadata: must not contain the name __proto__');
    },
  );
});

describe('users and addresses', () => {
  test.each([
    [{ userIds: 'a, b,,a' }, ['a', 'b']],
    [{ userIds: ['a', 7] }, ['a', '7']],
    [{ userId: 'c' }, ['c']],
    [{ userIds: 'a', userId: 'c' }, ['a', 'c']],
    [{ userIds: ' ', userId: '' }, null],
  ])('%j', (fields, expected) => expect(input({ ...circle, ...fields }).userIds).toEqual(expected));

  // A list once counted as a repeated field, of which the last value counts: all ranges but one were lost in silence.
  test.each([
    ['text', '8.8.8.8, 10.0.0.*,2001:db8::/32'],
    ['a list', ['8.8.8.8', ' 10.0.0.*', '2001:db8::/32']],
    ['JSON text', '["8.8.8.8","10.0.0.*","2001:db8::/32"]'],
  ])('addresses as %s', (_, ip) => {
    expect(input({ ...circle, ip }).ip).toBe('8.8.8.8,10.0.0.*,2001:db8::/32');
  });

  test.each([[[]], [['8.8.8.8', null]], [[{}]], [true], [{}]])('%j is no list of addresses', (ip) => {
    expect(refused({ ...circle, ip })).toMatch(/^invalid_parameter ip: must be addresses/);
  });
});

test('dates', () => {
  expect(input({ ...circle, disableAfter: 'Jan 1, 2029', deleteAfter: '2029-01-02T00:00:00+01:00' })).toMatchObject({
    disableAfter: Date.UTC(2029, 0, 1),
    deleteAfter: Date.UTC(2029, 0, 1, 23),
  });
});

describe('what is refused', () => {
  const without = (name: string) => Object.fromEntries(Object.entries(circle).filter(([key]) => key !== name));
  test.each([
    [without('description'), 'invalid_parameter description: is required'],
    [{ ...circle, description: '  ' }, 'invalid_parameter description: is required'],
    [{ ...circle, description: {} }, 'invalid_parameter description: must be text'],
    [without('type'), 'invalid_parameter type: is required'],
    [{ ...circle, type: 'square' }, 'invalid_parameter type: must be one of circle, polygon, isochrone'],
    [without('tag'), 'invalid_parameter tag: is required'],
    [{ ...circle, tag: 'x'.repeat(257) }, 'invalid_parameter tag: must have at most 256 characters'],
    [
      { ...circle, tag: 'a\ud800' },
      'invalid_parameter tag: must be well-formed Unicode, without half of a surrogate pair',
    ],
    [without('externalId'), 'invalid_parameter externalId: is required'],
    [{ ...circle, address: 'x'.repeat(513) }, 'invalid_parameter address: must have at most 512 characters'],
    [{ ...without('coordinates'), type: 'polygon', address: 'Paris' }, 'invalid_parameter coordinates: is required'],
    [without('coordinates'), 'invalid_parameter coordinates: is required'],
    [
      { ...circle, coordinates: [181, 0] },
      'invalid_parameter coordinates: longitude, which comes first, must be -180 to 180',
    ],
    [
      { ...circle, coordinates: [0, -90.1] },
      'invalid_parameter coordinates: latitude, which comes second, must be -90 to 90',
    ],
    [
      { ...circle, coordinates: [Number.NaN, 0] },
      'invalid_parameter coordinates: must be two finite numbers, [longitude,latitude]',
    ],
    [
      { ...circle, coordinates: '[1,' },
      'invalid_parameter coordinates: must be valid JSON: column 4: expected a value, not the end',
    ],
    [
      { ...circle, coordinates: '1,2' },
      'invalid_parameter coordinates: must be valid JSON: column 2: expected the end of the text, not ","',
    ],
    [without('radius'), 'invalid_parameter radius: is required for a circle'],
    ...[9, 10_001, Number.NaN, 'NaN', '0x10', 'Infinity', true].map((radius) => [
      { ...circle, radius },
      'invalid_parameter radius: must be a number from 10 to 10000 metres',
    ]),
    [{ ...isochrone, radius: undefined }, 'invalid_parameter radius: is required for an isochrone'],
    ...[0, 0.5, 60.1, 100, 'soon'].map((radius) => [
      { ...isochrone, radius },
      'invalid_parameter radius: must be a number from 1 to 60 minutes',
    ]),
    [
      { ...isochrone, mode: '' },
      'invalid_parameter mode: is required for an isochrone; it must be one of car, truck, foot, bike, motorbike',
    ],
    [{ ...isochrone, mode: 'driving' }, 'invalid_parameter mode: must be one of car, truck, foot, bike, motorbike'],
    [{ ...isochrone, coordinates: regularRing(4) }, 'invalid_parameter coordinates: must be [longitude,latitude]'],
    [{ ...circle, mode: 'boat' }, 'invalid_parameter mode: must be one of car, truck, foot, bike, motorbike'],
    [{ ...circle, enabled: 'yes' }, 'invalid_parameter enabled: must be true or false'],
    [
      { ...circle, metadata: '{"a":' },
      'invalid_parameter metadata: must be valid JSON: column 6: expected a value, not the end',
    ],
    [{ ...circle, metadata: [] }, 'invalid_parameter metadata: must be a dictionary'],
    [{ ...circle, metadata: { a: { b: 1 } } }, 'invalid_parameter metadata.a: must be a string, a number or a boolean'],
    [{ ...circle, metadata: '{"a":1e999}' }, 'invalid_parameter metadata.a: must be a string, a number or a boolean'],
    [
      { ...circle, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 1])) },
      'invalid_parameter metadata: must have at most 16 keys',
    ],
    [
      { ...circle, metadata: {}, 'metadata.a': 'x' },
      "invalid_parameter metadata: can't be combined with metadata.{key}",
    ],
    [
      { ...circle, operatingHours: '{' },
      'invalid_parameter operatingHours: must be valid JSON: column 2: expected a key in double quotes, not the end',
    ],
    [
      { ...circle, operatingHours: {}, 'operatingHours.mon': '[]' },
      "invalid_parameter operatingHours: can't be combined with operatingHours.{key}",
    ],
    [
      { ...circle, 'operatingHours.mon': '[[' },
      'invalid_parameter operatingHours: must be valid JSON: column 3: expected a value, not the end',
    ],
    [{ ...circle, stopDetection: 2 }, 'invalid_parameter stopDetection: must be true or false'],
    [{ ...circle, dwellThreshold: -1 }, 'invalid_parameter dwellThreshold: must be a number of at least 0 minutes'],
    [
      { ...circle, disableAfter: '2029-02-30' },
      'invalid_parameter disableAfter: must be a date or an ISO 8601 date and time, ' +
        'such as 2029-01-01 or 2029-01-01T09:30:00Z',
    ],
    [
      { ...circle, userIds: [{}] },
      'invalid_parameter userIds: must be comma-separated user ids of at most 256 characters',
    ],
    // A program whose list was empty made a geofence for everyone.
    ...[[], ',', '[]', ['']].map((userIds): [object, string] => [
      { ...circle, userIds },
      'invalid_parameter userIds: must name at least one user; leave it out for all users',
    ]),
    [
      { ...circle, userIds: Array.from({ length: 1_001 }, (_, index) => index) },
      'invalid_parameter userIds: must name at most 1000 users',
    ],
  ] as [RawFields, string][])('%j', (fields, message) => expect(refused(fields)).toBe(message));

  test('hours and addresses with their own rules', () => {
    expect(refused({ ...circle, operatingHours: { mon: [['25:00', '26:00']] } })).toMatch(
      /^invalid_parameter operatingHours/,
    );
    expect(refused({ ...circle, operatingHours: { funday: [] } })).toMatch(/^invalid_parameter operatingHours/);
    expect(refused({ ...circle, ip: '8.8.8.300' })).toMatch(/^invalid_parameter ip: /);
  });

  test('of several broken fields the first of the table is named', () => {
    expect(refused({ ...circle, ip: 'x', metadata: 'x', radius: 9, enabled: 'x' })).toMatch(/radius/);
    expect(refused({})).toMatch(/description/);
  });
});

test('any fields are read or refused with a param, without an exception', () => {
  const anything = fc.oneof(fc.anything(), fc.json(), fc.string());
  const names = [...Object.keys(circle), 'enabled', 'metadata', 'operatingHours', 'stopDetection', 'dwellThreshold'];
  const more = ['disableAfter', 'deleteAfter', 'userIds', 'userId', 'ip', 'mode'];
  const odd = fc.tuple(fc.constantFrom(...names, ...more), anything);
  const all = Object.entries(circle);
  const kept = fc.oneof(fc.constant(all), fc.subarray(all));
  let accepted = 0;
  fc.assert(
    fc.property(kept, fc.array(odd, { maxLength: 2 }), (kept, odds) => {
      const outcome = readGeofence(Object.fromEntries<unknown>([...kept, ...odds]));
      if (!outcome.ok) expect(outcome.error.param).toBeDefined();
      else if (!isSought(outcome.value)) {
        accepted += 1;
        expect(outcome.value.center.every(Number.isFinite)).toBe(true);
      }
    }),
    { numRuns: propertyRuns(300) },
  );
  expect(accepted).toBeGreaterThan(5);
});

test('every accepted input makes a record that the read model accepts', () => {
  const isRecord = Compile(GeofenceRecord);
  const scope = { project: '0'.repeat(24), environment: 'test' } as const;
  const name = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 }).filter((value) => value.trim() !== '');
  const asText = (value: fc.Arbitrary<unknown>) =>
    fc.oneof(
      value,
      value.map((item) => JSON.stringify(item)),
    );
  const degrees = (limit: number) => fc.double({ min: -limit, max: limit, noNaN: true });
  const minutes = fc.integer({ min: 0, max: 1_439 });
  const time = minutes.map((minute) => `${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`);
  const metadata = fc.dictionary(
    name,
    fc.oneof(fc.string(), fc.boolean(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    {
      maxKeys: 16,
    },
  );
  const fields = fc.record(
    {
      description: name,
      type: fc.constantFrom('circle', 'CIRCLE'),
      tag: name,
      externalId: name,
      coordinates: asText(fc.tuple(degrees(180), degrees(90))),
      radius: asText(fc.double({ min: 10, max: 10_000, noNaN: true })),
      enabled: asText(fc.boolean()),
      metadata: asText(metadata),
      operatingHours: asText(
        fc.dictionary(fc.constantFrom('mon', 'Tuesday', 'SUN'), fc.array(fc.tuple(time, time), { maxLength: 1 })),
      ),
      stopDetection: asText(fc.boolean()),
      dwellThreshold: asText(fc.double({ min: 0, max: 1e6, noNaN: true })),
      disableAfter: fc
        .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      userIds: fc.array(name, { minLength: 1, maxLength: 5 }),
      ip: fc.ipV4(),
    },
    { requiredKeys: ['description', 'type', 'tag', 'externalId', 'coordinates', 'radius'] },
  );
  fc.assert(
    fc.property(fields, (given) => {
      const record = geofenceRecord(scope, input(given), undefined, 1);
      expect([...isRecord.Errors(JSON.parse(JSON.stringify(record)))]).toEqual([]);
    }),
    { numRuns: propertyRuns(300) },
  );
});

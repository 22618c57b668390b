/**
 * Every call reads a field by the same rule. Regression: track, the management API and search each read `"1"`, `"TRUE"`
 * and dates in a different way.
 */
import { describe, expect, it } from 'vitest';
import { accepted, FieldReader, type Outcome } from '../http/fields/reader.js';
import { readLocation } from '../http/location/request.js';
import { parseForm } from '../http/requests/bodies.js';
import { parseNetworks } from '../outbound/addresses.js';
import { ApiError, type Validated } from '../schemas/errors.js';
import { defaultSettings } from '../schemas/json/project.js';
import { readPlaces } from './analytics/places.js';
import { readRange } from './analytics/range.js';
import { readBeacon } from './beacons/fields.js';
import { readExplainRequest } from './explain/request.js';
import { readGeofence } from './geofences/fields.js';
import { readShortListQuery } from './lists.js';
import { readConversion } from './sdk/conversion.js';
import { changeSettings } from './settings/fields.js';
import { readOverlapHours, readWebhook } from './webhooks/fields.js';
import { readRedelivery } from './webhooks/redelivery-fields.js';

const nowMs = Date.UTC(2030, 0, 1);
const scope = { project: 'a'.repeat(24), environment: 'test' } as const;
const receipt = { ...scope, receivedAt: nowMs, ip: null, replayed: false, replyTo: null };
const networks = accepted(parseNetworks('networks', []));

const point = { deviceId: 'phone', latitude: 1, longitude: 2, accuracy: 3 };
const circle = { description: 'd', type: 'circle', tag: 't', externalId: 'e', coordinates: [1, 2], radius: 100 };
const eddystone = {
  description: 'd',
  type: 'eddystone',
  uid: '0'.repeat(20),
  instance: '0'.repeat(12),
  coordinates: [1, 2],
};
const url = 'https://example.com/hook';

const notGiven = Symbol('not given');
const broken = Symbol('broken');

type Fields = Readonly<Record<string, unknown>>;
type Call = (fields: Fields) => unknown;

const track = (fields: Fields) => readLocation({ ...point, ...fields }, receipt);
const geofence = (fields: Fields) => readGeofence({ ...circle, ...fields });
const beacon = (fields: Fields) => readBeacon({ ...eddystone, ...fields });
const webhook = (fields: Fields) => readWebhook(undefined, { url, ...fields }, networks);
const explain = (fields: Fields) => readExplainRequest(scope, { ...point, ...fields }, nowMs, null);

/** Returns the value of a field, or that the call was refused for this field. */
function fieldOf<T>(name: string, result: Outcome<T> | Validated<T>, pick: (value: T) => unknown): unknown {
  try {
    return pick(accepted(result));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.param).toBe(name);
    expect(error.message.startsWith(`${name}: `)).toBe(true);
    return broken;
  }
}

/**
 * Checks that all calls read each value in the same way, as JSON and, for text, as a form or query string.
 * @param repeated texts of a key that a form repeats, of which the last counts. A list of JSON is no such key.
 */
function describeRule(
  rule: string,
  calls: Readonly<Record<string, { readonly field: string; readonly read: Call; readonly byDefault: unknown }>>,
  cases: readonly (readonly [value: unknown, expected: unknown])[],
  repeated?: { readonly texts: readonly string[]; readonly last: unknown },
): void {
  describe.each(Object.entries(calls))(`${rule} in %s`, (_, { field, read, byDefault }) => {
    it.each(cases)('%j', (value, expected) => {
      const whole = expected === notGiven ? byDefault : expected;
      expect(read({ [field]: value })).toEqual(whole);
      if (typeof value === 'string') {
        const form = parseForm(`${field}=${encodeURIComponent(value)}`);
        expect(read(form)).toEqual(whole);
      }
    });

    it.runIf(repeated)('repeated in a form, and as a list in JSON', () => {
      const { texts, last } = repeated!;
      expect(read(parseForm(texts.map((text) => `${field}=${text}`).join('&')))).toEqual(last);
      expect(read({ [field]: texts })).toEqual(broken);
      expect(read({ [field]: texts.slice(1) })).toEqual(broken);
    });
  });
}

const call = (field: string, read: Call, byDefault: unknown) => ({ field, read, byDefault });

describeRule(
  'a boolean',
  {
    track: call('stopped', (fields) => fieldOf('stopped', track(fields), ({ stopped }) => stopped), false),
    geofences: call('enabled', (fields) => fieldOf('enabled', geofence(fields), ({ enabled }) => enabled), true),
    beacons: call('enabled', (fields) => fieldOf('enabled', beacon(fields), ({ enabled }) => enabled), true),
    webhooks: call('enabled', (fields) => fieldOf('enabled', webhook(fields), ({ enabled }) => enabled), true),
    settings: call(
      'bufferExits',
      (fields) => fieldOf('bufferExits', changeSettings(defaultSettings, fields), ({ bufferExits }) => bufferExits),
      false,
    ),
    explain: call(
      'foreground',
      (fields) => fieldOf('foreground', explain(fields), ({ location }) => location.foreground),
      false,
    ),
  },
  [
    [true, true],
    [false, false],
    ['true', true],
    ['TRUE', true],
    [' False ', false],
    ['1', true],
    ['0', false],
    [1, true],
    [0, false],
    ['', notGiven],
    ['  ', notGiven],
    [null, notGiven],
    ['yes', broken],
    [2, broken],
    ['01', broken],
    [{}, broken],
    [[], broken],
  ],
  { texts: ['false', 'true'], last: true },
);

describeRule(
  'a number',
  {
    track: call('accuracy', (fields) => fieldOf('accuracy', track(fields), ({ accuracy_m }) => accuracy_m), broken),
    geofences: call('radius', (fields) => fieldOf('radius', geofence(fields), ({ radius }) => radius), broken),
    settings: call(
      'defaultDwellThreshold',
      (fields) =>
        fieldOf(
          'defaultDwellThreshold',
          changeSettings(defaultSettings, fields),
          (value) => value.defaultDwellThreshold,
        ),
      null,
    ),
    webhooks: call('overlapHours', (fields) => fieldOf('overlapHours', readOverlapHours(fields), (hours) => hours), 24),
    explain: call(
      'accuracy',
      (fields) => fieldOf('accuracy', explain(fields), ({ location }) => location.accuracy_m),
      broken,
    ),
    lists: call('limit', (fields) => fieldOf('limit', readShortListQuery(fields), ({ limit }) => limit), 100),
  },
  [
    [25, 25],
    ['25', 25],
    [' +25.0 ', 25],
    ['2.5e1', 25],
    ['', notGiven],
    [' ', notGiven],
    [null, notGiven],
    ['0x19', broken],
    ['25m', broken],
    ['Infinity', broken],
    ['1e999', broken],
    [Number.NaN, broken],
    [true, broken],
    [{}, broken],
  ],
  { texts: ['7', '25'], last: 25 },
);

describeRule(
  'a date',
  {
    track: call('updatedAt', (fields) => fieldOf('updatedAt', track(fields), ({ occurredAt }) => occurredAt), nowMs),
    geofences: call(
      'disableAfter',
      (fields) => fieldOf('disableAfter', geofence(fields), ({ disableAfter }) => disableAfter),
      null,
    ),
    webhooks: call(
      'from',
      (fields) =>
        fieldOf('from', readRedelivery(fields), (value) => (value.kind === 'range' ? value.range.fromMs : undefined)),
      broken,
    ),
    explain: call(
      'updatedAt',
      (fields) => fieldOf('updatedAt', explain(fields), ({ location }) => location.occurredAt),
      nowMs,
    ),
    lists: call(
      'createdAfter',
      (fields) => fieldOf('createdAfter', readShortListQuery(fields), ({ createdAfter }) => createdAfter),
      undefined,
    ),
    analytics: call(
      'to',
      (fields) => {
        const reader = new FieldReader(fields);
        const { toMs } = readRange(reader, nowMs);
        return fieldOf(
          'to',
          reader.outcome(() => toMs),
          (to) => to,
        );
      },
      nowMs,
    ),
    conversions: call(
      'createdAt',
      (fields) => fieldOf('createdAt', readConversion({ name: 'n', ...fields }, nowMs), ({ createdAt }) => createdAt),
      nowMs,
    ),
  },
  [
    ['2029-01-01', Date.UTC(2029, 0, 1)],
    ['2029-01-01T09:30:00+02:00', Date.UTC(2029, 0, 1, 7, 30)],
    ['2029-01-01 09:30', Date.UTC(2029, 0, 1, 9, 30)],
    ['Jan 1, 2029', Date.UTC(2029, 0, 1)],
    [Date.UTC(2029, 0, 1), Date.UTC(2029, 0, 1)],
    [`${Date.UTC(2029, 0, 1)}`, Date.UTC(2029, 0, 1)],
    ['', notGiven],
    [null, notGiven],
    [2029, broken],
    ['2029', broken],
    [1_861_920_000, broken],
    ['2029-02-30', broken],
    ['1/2/2029', broken],
    ['tomorrow', broken],
    [true, broken],
    [1e300, broken],
  ],
  { texts: ['2028-01-01', '2029-01-01'], last: Date.UTC(2029, 0, 1) },
);

describeRule(
  'text',
  {
    track: call('userId', (fields) => fieldOf('userId', track(fields), ({ userId }) => userId), null),
    geofences: call('tag', (fields) => fieldOf('tag', geofence(fields), ({ tag }) => tag), broken),
    beacons: call('tag', (fields) => fieldOf('tag', beacon(fields), ({ tag }) => tag), null),
    webhooks: call(
      'description',
      (fields) => fieldOf('description', webhook(fields), ({ description }) => description),
      null,
    ),
    explain: call('userId', (fields) => fieldOf('userId', explain(fields), ({ location }) => location.userId), null),
    analytics: call(
      'tag',
      (fields) => {
        const reader = new FieldReader(fields);
        const { parameters } = readPlaces(reader);
        return fieldOf(
          'tag',
          reader.outcome(() => parameters),
          ({ tag }) => tag,
        );
      },
      undefined,
    ),
    conversions: call(
      'userId',
      (fields) => fieldOf('userId', readConversion({ name: 'n', ...fields }, nowMs), ({ userId }) => userId),
      null,
    ),
  },
  [
    ['a', 'a'],
    [' a ', ' a '],
    [12, '12'],
    ['', notGiven],
    [' ', notGiven],
    [null, notGiven],
    [true, broken],
    [{}, broken],
    [[1], broken],
  ],
  { texts: ['a', 'b'], last: 'b' },
);

describeRule(
  'a list',
  {
    geofences: call('userIds', (fields) => fieldOf('userIds', geofence(fields), ({ userIds }) => userIds), null),
    webhooks: call('tags', (fields) => fieldOf('tags', webhook(fields), ({ tags }) => tags), null),
  },
  [
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    ['a,b', ['a', 'b']],
    [' a , b ', ['a', 'b']],
    ['["a","b"]', ['a', 'b']],
    ['a', ['a']],
    [7, ['7']],
    ['', notGiven],
    [null, notGiven],
    ['["a"', broken],
    [[{}], broken],
  ],
);

import { describe, expect, test } from 'vitest';
import type { RawFields } from '../../http/fields/reader.js';
import { type BeaconInput, readBeacon } from './fields.js';

const ibeacon = {
  description: 'Register 1',
  type: 'ibeacon',
  uuid: 'A7F2B4C0-1111-2222-3333-444455556666',
  major: '010',
  minor: 7,
  coordinates: '[-73.97,40.78]',
};
const eddystone = { ...ibeacon, type: 'Eddystone', uid: 'ABCDEF0123456789ABCD', instance: '0123456789AB' };

function input(fields: RawFields, path?: { tag: string; externalId: string }): BeaconInput {
  const outcome = readBeacon(fields, path);
  if (!outcome.ok) throw outcome.error;
  return outcome.value;
}

function refused(fields: RawFields): string {
  const outcome = readBeacon(fields);
  if (outcome.ok) throw new Error('not refused');
  return outcome.error.message;
}

test('an ibeacon in normal form', () => {
  expect(input(ibeacon)).toEqual({
    description: 'Register 1',
    tag: null,
    externalId: null,
    type: 'ibeacon',
    group: 'a7f2b4c0-1111-2222-3333-444455556666',
    major: '10',
    minor: '7',
    coordinates: [-73.97, 40.78],
    enabled: true,
    metadata: null,
  });
});

test('an eddystone in normal form', () => {
  expect(input(eddystone)).toMatchObject({
    type: 'eddystone',
    group: 'abcdef0123456789abcd',
    major: '',
    minor: '0123456789ab',
  });
});

test('pairs, metadata and enabled', () => {
  expect(input({ ...ibeacon, tag: 't', externalId: 'e', enabled: 'false', 'metadata.a': 'b' })).toMatchObject({
    tag: 't',
    externalId: 'e',
    enabled: false,
    metadata: { a: 'b' },
  });
  expect(input({ ...ibeacon, tag: 'other' }, { tag: 't', externalId: 'e' })).toMatchObject({
    tag: 't',
    externalId: 'e',
  });
});

describe('what is refused', () => {
  const without = (fields: object, name: string) =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name));
  test.each([
    [without(ibeacon, 'description'), 'description: is required'],
    [{ ...ibeacon, type: 'wifi' }, 'type: must be one of ibeacon, eddystone'],
    [without(ibeacon, 'uuid'), 'uuid: is required'],
    [{ ...ibeacon, uuid: 'abc' }, 'uuid: must be a UUID of 32 hex digits'],
    [without(ibeacon, 'major'), 'major: is required'],
    [{ ...ibeacon, major: '65536' }, 'major: must be a whole number from 0 to 65535'],
    [{ ...ibeacon, minor: 1.5 }, 'minor: must be a whole number from 0 to 65535'],
    [without(eddystone, 'uid'), 'uid: is required'],
    [{ ...eddystone, uid: 'xy' }, 'uid: must be 20 hex digits'],
    [{ ...eddystone, instance: '1' }, 'instance: must be 12 hex digits'],
    [without(ibeacon, 'coordinates'), 'coordinates: is required'],
    [{ ...ibeacon, coordinates: [-73.97] }, 'coordinates: must be [longitude,latitude]'],
    [{ ...ibeacon, enabled: 'on' }, 'enabled: must be true or false'],
    [{ ...ibeacon, metadata: { a: [] } }, 'metadata.a: must be a string, a number or a boolean'],
  ] as [RawFields, string][])('%j', (fields, message) => expect(refused(fields)).toBe(message));
});

/** Equal identifiers have one normal form; invalid ones have none. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { beaconKey, normalizeRangedBeacon, rangedText } from './beacons.js';

const uuid = 'b9407f30-f5f8-466e-aff9-25556b57fe6d';
const ibeacon = { type: 'ibeacon', uuid, major: '100', minor: '1' };
const eddystone = { type: 'eddystone', uid: '0a1b2c3d4e5f60718293', instance: '0000000000af' };

describe('normal form', () => {
  test.each([
    [ibeacon],
    [{ ...ibeacon, uuid: uuid.toUpperCase() }],
    [{ ...ibeacon, uuid: uuid.replaceAll('-', '') }],
    [{ ...ibeacon, major: '00100', minor: '0001' }],
    [{ ...ibeacon, major: 100, minor: 1 }],
  ])('%j', (given) => {
    expect(normalizeRangedBeacon(given)).toEqual({
      type: 'ibeacon',
      group: uuid,
      major: '100',
      minor: '1',
      rssi_dbm: null,
    });
  });

  test('of an eddystone', () => {
    const expected = { type: 'eddystone', group: eddystone.uid, major: '', minor: eddystone.instance, rssi_dbm: null };
    expect(normalizeRangedBeacon(eddystone)).toEqual(expected);
    expect(normalizeRangedBeacon({ ...eddystone, uid: ' 0A1B2C3D4E5F60718293', instance: '0000000000AF' })).toEqual(
      expected,
    );
  });

  test.each([
    [-60, -60],
    [-60.4, -60],
    [0, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    ['-60', null],
    [-1e9, null],
  ])('signal strength %j is %j', (rssi, expected) => {
    expect(normalizeRangedBeacon({ ...ibeacon, rssi })?.rssi_dbm).toBe(expected);
  });

  test('0 and 65535 are the bounds of decimals', () => {
    expect(normalizeRangedBeacon({ ...ibeacon, major: '0000000', minor: '65535' })).toMatchObject({
      major: '0',
      minor: '65535',
    });
  });

  test.each([
    [{}],
    [{ ...ibeacon, type: 'altbeacon' }],
    [{ ...ibeacon, type: 'eddystone' }],
    [{ ...ibeacon, uuid: undefined }],
    [{ ...ibeacon, uuid: `${uuid}0` }],
    [{ ...ibeacon, uuid: uuid.replace('-', '') }],
    [{ ...ibeacon, uuid: uuid.replace('b', 'g') }],
    [{ ...ibeacon, major: '65536' }],
    [{ ...ibeacon, major: '-1' }],
    [{ ...ibeacon, major: 1.5 }],
    [{ ...ibeacon, minor: '' }],
    [{ ...ibeacon, minor: '0x1' }],
    [{ ...ibeacon, minor: null }],
    [{ ...eddystone, uid: eddystone.uid.slice(1) }],
    [{ ...eddystone, instance: `${eddystone.instance}0` }],
  ])('%j has none', (given) => expect(normalizeRangedBeacon(given)).toBeUndefined());
});

test('keys distinguish beacons, and nothing else', () => {
  const some = fc.record({
    type: fc.constantFrom('ibeacon', 'eddystone'),
    uuid: fc.constant(uuid),
    major: fc.constantFrom('1', '01', '11', '2'),
    minor: fc.constantFrom('1', '11', 2),
    uid: fc.constant(eddystone.uid),
    instance: fc.constantFrom('0000000000af', '0000000000AF', '0000000000aa'),
    rssi: fc.constantFrom(-1, -2),
  });
  fc.assert(
    fc.property(some, some, (a, b) => {
      const [first, second] = [normalizeRangedBeacon(a)!, normalizeRangedBeacon(b)!];
      const isSame = JSON.stringify({ ...first, rssi_dbm: 0 }) === JSON.stringify({ ...second, rssi_dbm: 0 });
      expect(beaconKey(first) === beaconKey(second)).toBe(isSame);
    }),
  );
});

test('ranged beacons are one text, independent of order and repetitions', () => {
  const [a, b] = [normalizeRangedBeacon({ ...ibeacon, rssi: -50 })!, normalizeRangedBeacon(eddystone)!];
  expect(rangedText([a, b])).toBe(rangedText([b, { ...a, rssi_dbm: -70 }, b]));
  expect(rangedText([a])).not.toBe(rangedText([b]));
  expect(rangedText([])).not.toBe(rangedText(null));
  expect(rangedText(null)).toBeNull();
});

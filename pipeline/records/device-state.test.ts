import { expect, test } from 'vitest';
import { firstDeviceStateType, thirdDeviceStateType } from '../../schemas/codecs.js';
import { decodeDeviceState, encodeDeviceState } from './device-state.js';

const visit = { id: '0123456789abcdef01234567', since: 5, dwelled: true };
const stateWith = <Visit>(visit: Visit, locationMs: number | null = null) => ({
  users: [{ id: 'a', userId: null, createdAt: 1, profile: null, last: null, geofences: [visit], beacons: [visit] }],
  locationMs,
});
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

function encoded(state: Parameters<typeof encodeDeviceState>[0]): Buffer {
  const target = Buffer.alloc(1_000);
  return target.subarray(0, encodeDeviceState(state, target, 0));
}

test('a state stored by a release without generations keeps its visits, with generation null', () => {
  const stored = firstDeviceStateType.toBuffer(stateWith(visit));
  expect(plain(decodeDeviceState(stored))).toEqual(stateWith({ ...visit, generation: null }));
});

test.each([null, 0, 123.5])('reads a state back as it was written, with the clock %s', (locationMs) => {
  const state = stateWith({ ...visit, generation: 1_700_000_000_000 }, locationMs);
  expect(plain(decodeDeviceState(encoded(state)))).toEqual(state);
});

test.each([null, 123.5])('reads overtaken fixes back, with the clock %s', (locationMs) => {
  const overtaken = ['00112233445566778899aabb', 'ffeeddccbbaa998877665544'];
  const state = { ...stateWith({ ...visit, generation: 1 }, locationMs), overtaken };
  expect(plain(decodeDeviceState(encoded(state)))).toEqual(state);
  expect(encodeDeviceState(state, Buffer.alloc(20), 0)).toBe(-1);
});

test('a state without a clock has the bytes of releases that knew no clock', () => {
  const state = stateWith({ ...visit, generation: 1 });
  expect(encoded(state)).toEqual(Buffer.concat([Buffer.of(0, 2), thirdDeviceStateType.toBuffer(state)]));
});

test('rejects a state of a later release, and returns -1 when a state does not fit', () => {
  const later = encoded(stateWith({ ...visit, generation: 1 }));
  later[1] = 9;
  expect(() => decodeDeviceState(later)).toThrow('device state has version 9; this release reads up to version 4');
  expect(encodeDeviceState(stateWith({ ...visit, generation: 1 }), Buffer.alloc(20), 19)).toBe(-1);
});

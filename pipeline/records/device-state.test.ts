import { expect, test } from 'vitest';
import { firstDeviceStateType } from '../../schemas/codecs.js';
import { decodeDeviceState, encodeDeviceState } from './device-state.js';

const stay = { id: '0123456789abcdef01234567', since: 5, dwelled: true };
const stateWith = <Visit>(visit: Visit) => ({
  users: [{ id: 'a', userId: null, createdAt: 1, profile: null, last: null, geofences: [visit], beacons: [visit] }],
});
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

function encoded(state: Parameters<typeof encodeDeviceState>[0]): Buffer {
  const target = Buffer.alloc(1_000);
  return target.subarray(0, encodeDeviceState(state, target, 0));
}

test('a state stored by a release without generations keeps its visits, of no generation', () => {
  const stored = firstDeviceStateType.toBuffer(stateWith(stay));
  expect(plain(decodeDeviceState(stored))).toEqual(stateWith({ ...stay, generation: null }));
});

test('a state is read back as it was written', () => {
  const state = stateWith({ ...stay, generation: 1_700_000_000_000 });
  expect(plain(decodeDeviceState(encoded(state)))).toEqual(state);
});

test('a state of a later release is refused, and one that does not fit says so', () => {
  const later = encoded(stateWith({ ...stay, generation: 1 }));
  later[1] = 9;
  expect(() => decodeDeviceState(later)).toThrow('a device state of version 9; this release reads 2');
  expect(encodeDeviceState(stateWith({ ...stay, generation: 1 }), Buffer.alloc(20), 19)).toBe(-1);
});

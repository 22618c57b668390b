/**
 * Encodes and decodes device states as the state store keeps them.
 *
 * A value is a zero byte, the version of the layout, and a bare Avro DeviceState. Layout 1 was the Avro record alone.
 * Its first byte is never zero, because no device is stored without users. Layout 2 ends with the users, and layout 3
 * with the device's clock. A state without a clock is written in layout 2, which earlier releases read too.
 */
import { encodeWith } from '../../schemas/avro-writer.js';
import { deviceStateType, firstDeviceStateType, thirdDeviceStateType } from '../../schemas/codecs.js';
import { writeDeviceState, writeUsers } from '../../schemas/record-writers.js';
import type { DeviceState } from '../../schemas/records.js';
import type { EncodeInto } from './slab.js';

const headerBytes = 2;
const usersLayout = 2;
const clockLayout = 3;

const resolveFirstVersion = deviceStateType.createResolver(firstDeviceStateType);

/** Decodes a state written by this or an earlier release. Throws on one of a later release. */
export function decodeDeviceState(value: Buffer): DeviceState {
  if (value[0] !== 0) return deviceStateType.fromBuffer(value, resolveFirstVersion) as DeviceState;
  const body = value.subarray(headerBytes);
  if (value[1] === usersLayout) return { users: thirdDeviceStateType.fromBuffer(body).users, locationMs: null };
  if (value[1] === clockLayout) return deviceStateType.fromBuffer(body) as DeviceState;
  throw new Error(`device state has version ${value[1]}; this release reads up to version ${clockLayout}`);
}

const encodeUsers = encodeWith(writeUsers);
const encodeWhole = encodeWith(writeDeviceState);

/** Encodes a state in the oldest layout that holds it. */
export const encodeDeviceState: EncodeInto<DeviceState> = (state, target, position) => {
  if (position + headerBytes > target.length) return -1;
  const hasClock = state.locationMs !== null;
  target[position] = 0;
  target[position + 1] = hasClock ? clockLayout : usersLayout;
  return (hasClock ? encodeWhole : encodeUsers)(state, target, position + headerBytes);
};

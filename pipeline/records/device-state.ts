/**
 * Encodes and decodes device states as the state store keeps them.
 *
 * A value is a zero byte, the version of the layout, and a bare Avro DeviceState. Version 1 wrote the Avro record
 * alone. Its first byte is never zero, because no device is stored without users.
 */
import { encodeWith } from '../../schemas/avro-writer.js';
import { deviceStateType, firstDeviceStateType } from '../../schemas/codecs.js';
import { writeDeviceState } from '../../schemas/record-writers.js';
import type { DeviceState } from '../../schemas/records.js';
import type { EncodeInto } from './slab.js';

const headerBytes = 2;
/** Changes only with the bytes: versions 2 and 3 of the schema encode alike. */
const writtenVersion = 2;

const resolveFirstVersion = deviceStateType.createResolver(firstDeviceStateType);

/** Decodes a state written by this or an earlier release. Throws on one of a later release. */
export function decodeDeviceState(value: Buffer): DeviceState {
  if (value[0] !== 0) return deviceStateType.fromBuffer(value, resolveFirstVersion) as DeviceState;
  if (value[1] !== writtenVersion)
    throw new Error(`device state has version ${value[1]}; this release reads up to version ${writtenVersion}`);
  return deviceStateType.fromBuffer(value.subarray(headerBytes)) as DeviceState;
}

const encodeBody = encodeWith(writeDeviceState);

/** Encodes a state in the newest version. */
export const encodeDeviceState: EncodeInto<DeviceState> = (state, target, position) => {
  if (position + headerBytes > target.length) return -1;
  target[position] = 0;
  target[position + 1] = writtenVersion;
  return encodeBody(state, target, position + headerBytes);
};

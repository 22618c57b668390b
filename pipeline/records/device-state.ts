/**
 * Encodes and decodes device states as the state store keeps them.
 *
 * A value is a zero byte, the version of the layout, and a bare Avro DeviceState. Layout 1 was the Avro record alone.
 * Its first byte is never zero, because no device is stored without users. Layout 2 ends with the users, and layout 3
 * with the device's clock. Layout 4 is layout 3 behind the overtaken fixes: their number in a byte, and 12 bytes each.
 * A state is written in the oldest layout that holds it, which earlier releases read too.
 */
import { encodeWith } from '../../schemas/avro-writer.js';
import { deviceStateType, firstDeviceStateType, thirdDeviceStateType } from '../../schemas/codecs.js';
import { writeDeviceState, writeUsers } from '../../schemas/record-writers.js';
import type { DeviceState } from '../../schemas/records.js';
import type { EncodeInto } from './slab.js';

const headerBytes = 2;
const usersLayout = 2;
const clockLayout = 3;
const overtakenLayout = 4;
const countBytes = 1;
const fixIdBytes = 12;

const resolveFirstVersion = deviceStateType.createResolver(firstDeviceStateType);

/** Decodes a state written by this or an earlier release. Throws on one of a later release. */
export function decodeDeviceState(value: Buffer): DeviceState {
  if (value[0] !== 0) return deviceStateType.fromBuffer(value, resolveFirstVersion) as DeviceState;
  const body = value.subarray(headerBytes);
  if (value[1] === usersLayout) return { users: thirdDeviceStateType.fromBuffer(body).users, locationMs: null };
  if (value[1] === clockLayout) return deviceStateType.fromBuffer(body) as DeviceState;
  if (value[1] === overtakenLayout) return withOvertaken(body);
  throw new Error(`device state has version ${value[1]}; this release reads up to version ${overtakenLayout}`);
}

function withOvertaken(body: Buffer): DeviceState {
  const end = countBytes + body[0]! * fixIdBytes;
  const { users, locationMs } = deviceStateType.fromBuffer(body.subarray(end)) as DeviceState;
  const overtaken: string[] = [];
  for (let at = countBytes; at < end; at += fixIdBytes) overtaken.push(body.toString('hex', at, at + fixIdBytes));
  return { users, locationMs, overtaken };
}

const encodeUsers = encodeWith(writeUsers);
const encodeWhole = encodeWith(writeDeviceState);

/** Encodes a state in the oldest layout that holds it. */
export const encodeDeviceState: EncodeInto<DeviceState> = (state, target, position) => {
  const { overtaken = [], locationMs } = state;
  const start = position + headerBytes;
  if (start > target.length) return -1;
  target[position] = 0;
  if (overtaken.length > 0) {
    target[position + 1] = overtakenLayout;
    const end = writeOvertaken(overtaken, target, start);
    return end < 0 ? -1 : encodeWhole(state, target, end);
  }
  target[position + 1] = locationMs === null ? usersLayout : clockLayout;
  return (locationMs === null ? encodeUsers : encodeWhole)(state, target, start);
};

/** Returns the position after the ids, or -1 when they do not fit. */
function writeOvertaken(ids: readonly string[], target: Buffer, position: number): number {
  const end = position + countBytes + ids.length * fixIdBytes;
  if (end > target.length) return -1;
  target[position] = ids.length;
  let at = position + countBytes;
  for (const id of ids) at += target.write(id, at, 'hex');
  return at;
}

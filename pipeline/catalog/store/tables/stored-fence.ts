/**
 * Encodes geofences for the read model. The data for evaluation comes first and loads without parsing; the rest of the
 * record follows as JSON.
 *
 * Layout, little-endian: [u8 0 circle, 1 ring][u8 0 test, 1 live][12 bytes project id][u32 bytes of the numbers][u32
 * bytes of the tag][u32 bytes of the rules][f64 creation time, epoch ms][f64 version of the change]. Then the numbers
 * as float64 (circle: longitude, latitude, radius in metres; ring: longitude and latitude of each vertex, unwrapped,
 * the first not repeated), the tag and the rules as UTF-8, and the record as JSON. The JSON omits the ring if the
 * numbers define it.
 */
import type { Position } from '../../../../schemas/json/common.js';
import { maxRingPoints } from '../../../../schemas/json/constants.js';
import type { GeofenceHead, GeofenceRecord } from '../../../../schemas/json/geofence.js';
import { unwrapRing } from '../../../geometry/ring.js';
import type { Scope } from '../../types.js';
import { idKey } from './keys.js';

const headerBytes = 42;
const numbersAt = 14;
const tagAt = 18;
const rulesAt = 22;
const createdAtAt = 26;
const versionAt = 34;
const circleForm = 0;
const ringForm = 1;

/** The fields of a geofence that control its monitoring, if they differ from the default. */
export type RulesJson = Partial<
  Pick<
    GeofenceRecord,
    | 'enabled'
    | 'disableAfter'
    | 'deleteAfter'
    | 'stopDetection'
    | 'dwellThreshold_min'
    | 'operatingHours'
    | 'timeZone'
    | 'userIds'
    | 'ip'
  >
>;

/** The part of a geofence that evaluation needs. */
export interface CompactFence {
  /** Creation time in epoch ms. Distinguishes successive fences with the same id. */
  readonly generation: number;
  /** JSON of {@link RulesJson}; empty if all rules have their defaults. */
  readonly rules: string;
  readonly tag: string;
  readonly shape:
    | { readonly type: 'circle'; readonly longitude: number; readonly latitude: number; readonly radiusM: number }
    /** Longitude and latitude of each vertex in turn, unwrapped, the first not repeated. */
    | { readonly type: 'ring'; readonly coordinates: Float64Array };
}

/** Returns the rules of a fence as text. Equal rules have equal text, which serves as a key for sharing. */
export function rulesText(record: GeofenceRecord): string {
  const rules: RulesJson = {
    ...(!record.enabled && { enabled: false }),
    ...(record.disableAfter !== null && { disableAfter: record.disableAfter }),
    ...(record.deleteAfter !== null && { deleteAfter: record.deleteAfter }),
    ...(record.stopDetection !== null && { stopDetection: record.stopDetection }),
    ...(record.dwellThreshold_min !== null && { dwellThreshold_min: record.dwellThreshold_min }),
    ...(record.operatingHours !== null && { operatingHours: record.operatingHours, timeZone: record.timeZone }),
    ...(record.userIds !== null && { userIds: record.userIds }),
    ...(record.ip !== null && { ip: record.ip }),
  };
  const text = JSON.stringify(rules);
  return text === '{}' ? '' : text;
}

/** Version of a fence whose change is not known. */
export const noVersion = -1;

/** Buffer of encoded fences. */
let encoded = Buffer.allocUnsafeSlow(64 * 1_024);

/** Encodes a fence. `text` is its JSON, if the caller has it. The result is valid until the next call. */
export function encodeFence(record: GeofenceRecord, version: number = noVersion, text?: string): Buffer {
  const { ring, tag } = record;
  const numbers = ring === null ? Float64Array.of(...record.center, record.radius) : unwrapRing(ring);
  const isRingInNumbers = ring !== null && isClosingOf(ring, numbers);
  const rules = rulesText(record);
  const json = isRingInNumbers ? JSON.stringify({ ...record, ring: undefined }) : (text ?? JSON.stringify(record));

  const numbersEnd = headerBytes + numbers.byteLength;
  // A character of UTF-16 takes at most three bytes.
  const mostBytes = numbersEnd + 3 * (tag.length + rules.length + json.length);
  if (encoded.length < mostBytes) encoded = Buffer.allocUnsafeSlow(mostBytes);
  const stored = encoded;
  stored.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), headerBytes);
  const tagBytes = stored.write(tag, numbersEnd);
  const rulesBytes = stored.write(rules, numbersEnd + tagBytes);
  const jsonBytes = stored.write(json, numbersEnd + tagBytes + rulesBytes);

  stored[0] = ring === null ? circleForm : ringForm;
  stored[1] = record.environment === 'live' ? 1 : 0;
  idKey(record.project).copy(stored, 2);
  stored.writeUInt32LE(numbers.byteLength, numbersAt);
  stored.writeUInt32LE(tagBytes, tagAt);
  stored.writeUInt32LE(rulesBytes, rulesAt);
  stored.writeDoubleLE(record.createdAt, createdAtAt);
  stored.writeDoubleLE(version, versionAt);
  return stored.subarray(0, numbersEnd + tagBytes + rulesBytes + jsonBytes);
}

/** Writes the version into an encoded fence. */
export const setVersion = (stored: Buffer, version: number): void => {
  stored.writeDoubleLE(version, versionAt);
};

/** Returns the version of the change that stored the fence; {@link noVersion} if it is not known. */
export const versionOfFence = (stored: Buffer): number => stored.readDoubleLE(versionAt);

/** Buffer for the coordinates of a decoded ring: at most 2,000 vertices, without the repeated one. */
const scratch = new Float64Array(2 * maxRingPoints);
const scratchBytes = new Uint8Array(scratch.buffer);

/** Returns the rules that begin at a byte, as JSON; empty if there are none. */
const rulesTextOf = (stored: Buffer, start: number): string => {
  const bytes = stored.readUInt32LE(rulesAt);
  return bytes === 0 ? '' : stored.toString('utf8', start, start + bytes);
};

/**
 * Decodes the part of a fence that evaluation needs. The coordinates of a ring are valid until the next call, which
 * avoids an allocation per fence.
 */
export function decodeCompactFence(stored: Buffer): CompactFence {
  const numbersBytes = stored.readUInt32LE(numbersAt);
  const tagStart = headerBytes + numbersBytes;
  const rulesStart = tagStart + stored.readUInt32LE(tagAt);
  scratchBytes.set(stored.subarray(headerBytes, tagStart));
  return {
    generation: stored.readDoubleLE(createdAtAt),
    rules: rulesTextOf(stored, rulesStart),
    tag: stored.toString('utf8', tagStart, rulesStart),
    shape:
      stored[0] === circleForm
        ? { type: 'circle', longitude: scratch[0]!, latitude: scratch[1]!, radiusM: scratch[2]! }
        : { type: 'ring', coordinates: scratch.subarray(0, numbersBytes / 8) },
  };
}

/** Reads `deleteAfter` in epoch ms, Infinity if it is not set, without parsing the record. */
export function deleteAfterOfFence(stored: Buffer): number {
  const rules = rulesTextOf(stored, headerBytes + stored.readUInt32LE(numbersAt) + stored.readUInt32LE(tagAt));
  return rules === '' ? Infinity : ((JSON.parse(rules) as RulesJson).deleteAfter ?? Infinity);
}

/** Reads the project and environment, without parsing the record. */
export const scopeOfFence = (stored: Buffer): Scope => ({
  project: stored.toString('hex', 2, numbersAt),
  environment: stored[1] === 1 ? 'live' : 'test',
});

/** Decodes the whole record. A ring that is stored only as numbers is closed again. */
export function decodeFence(stored: Buffer): GeofenceRecord {
  const record = jsonOf(stored);
  return record.ring === undefined ? { ...record, ring: closed(numbersOf(stored)) } : (record as GeofenceRecord);
}

/** Decodes the record without its ring. */
export function decodeFenceHead(stored: Buffer): GeofenceHead {
  const { ring: _, ...head } = jsonOf(stored);
  return head;
}

function jsonOf(stored: Buffer): GeofenceHead & Partial<GeofenceRecord> {
  const jsonStart =
    headerBytes + stored.readUInt32LE(numbersAt) + stored.readUInt32LE(tagAt) + stored.readUInt32LE(rulesAt);
  return JSON.parse(stored.toString('utf8', jsonStart, stored.length));
}

function numbersOf(stored: Buffer): Float64Array {
  const bytes = stored.readUInt32LE(numbersAt);
  const numbers = new Float64Array(bytes / 8);
  new Uint8Array(numbers.buffer).set(stored.subarray(headerBytes, headerBytes + bytes));
  return numbers;
}

function closed(numbers: Float64Array): Position[] {
  const ring: Position[] = [];
  for (let at = 0; at < numbers.length; at += 2) ring.push([numbers[at]!, numbers[at + 1]!]);
  return [...ring, [...ring[0]!]];
}

/** Tests whether the ring equals the closed numbers: false if it crosses the antimeridian or repeats a position. */
const isClosingOf = (ring: readonly Position[], numbers: Float64Array): boolean =>
  ring.length === numbers.length / 2 + 1 &&
  ring.every(([longitude, latitude], index) => {
    const at = (2 * index) % numbers.length;
    return longitude === numbers[at] && latitude === numbers[at + 1];
  });

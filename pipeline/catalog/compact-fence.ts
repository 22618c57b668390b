/**
 * The form of a geofence that is quick to load: all that evaluation needs, and nothing to parse for the common fence.
 *
 * Layout, little-endian: [u8 0 circle, 1 ring][u32 bytes of the tag][u32 bytes of the rules], then float64s (circle: longitude,
 * latitude, radius in metres; ring: longitude and latitude of each vertex, unwrapped, the first not repeated), then the tag and the rules as UTF-8.
 */
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { unwrapRing } from '../geometry/ring.js';

const headerBytes = 9;
const circleForm = 0;
const ringForm = 1;

/** The fields of a geofence that rule its monitoring, as far as they differ from the default. */
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

export interface CompactFence {
  /** JSON of {@link RulesJson}; empty when nothing differs from the default. */
  readonly rules: string;
  readonly tag: string;
  readonly shape:
    | { readonly type: 'circle'; readonly longitude: number; readonly latitude: number; readonly radiusM: number }
    /** Longitude and latitude of each vertex in turn, unwrapped, the first not repeated. */
    | { readonly type: 'ring'; readonly coordinates: Float64Array };
}

/** Equal rules give equal text, so that they can be shared by it. */
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

export function encodeCompactFence(record: GeofenceRecord): Buffer {
  const numbers =
    record.ring === null ? Float64Array.of(record.center[0], record.center[1], record.radius) : unwrapRing(record.ring);
  const tag = Buffer.from(record.tag);
  const rules = Buffer.from(rulesText(record));
  const buffer = Buffer.alloc(headerBytes + numbers.byteLength + tag.length + rules.length);
  buffer[0] = record.ring === null ? circleForm : ringForm;
  buffer.writeUInt32LE(tag.length, 1);
  buffer.writeUInt32LE(rules.length, 5);
  buffer.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), headerBytes);
  tag.copy(buffer, headerBytes + numbers.byteLength);
  rules.copy(buffer, headerBytes + numbers.byteLength + tag.length);
  return buffer;
}

/** Copies what it takes: the buffer may be LMDB's own. */
export function decodeCompactFence(buffer: Buffer): CompactFence {
  const rulesStart = buffer.length - buffer.readUInt32LE(5);
  const tagStart = rulesStart - buffer.readUInt32LE(1);
  const coordinates = new Float64Array((tagStart - headerBytes) / 8);
  new Uint8Array(coordinates.buffer).set(buffer.subarray(headerBytes, tagStart));
  const [longitude = Number.NaN, latitude = Number.NaN, radiusM = Number.NaN] = coordinates;
  return {
    rules: rulesStart === buffer.length ? '' : buffer.toString('utf8', rulesStart),
    tag: buffer.toString('utf8', tagStart, rulesStart),
    shape: buffer[0] === circleForm ? { type: 'circle', longitude, latitude, radiusM } : { type: 'ring', coordinates },
  };
}

/**
 * Renames the fields of decoded Avro records to those of a track request. Records may have these names already, or
 * those of the Location record of topic `locations`.
 */
import { isDictionary } from '../../../http/fields/values.js';

/** Names of the Location record that differ from those of a track request. */
const otherNames: readonly (readonly [record: string, request: string])[] = [
  ['accuracy_m', 'accuracy'],
  ['altitude_m', 'altitude'],
  ['speed_mps', 'speed'],
  ['course_deg', 'course'],
  ['timeZoneOffset_s', 'timeZoneOffset'],
];

/** `group` is the uuid of an ibeacon or the uid of an eddystone. */
function beaconOf(item: unknown): unknown {
  if (!isDictionary(item) || item.group === undefined) return item;
  const { type, group, major, minor, rssi_dbm: rssi } = item;
  return type === 'eddystone' ? { type, uid: group, instance: minor, rssi } : { type, uuid: group, major, minor, rssi };
}

/** Returns the fields of a track request. A value that is no record is returned unchanged, to be refused. */
export function trackFieldsOf(record: unknown): unknown {
  if (!isDictionary(record)) return record;
  const fields = isDictionary(record.details) ? { ...record.details, ...record } : { ...record };
  for (const [name, requestName] of otherNames) fields[requestName] ??= fields[name];
  if (record.deviceTimed !== false) fields.updatedAtMs ??= record.occurredAt;
  if (Array.isArray(record.beacons)) fields.beacons = record.beacons.map(beaconOf);
  return fields;
}

/** What it takes to enable a record. Pure. */
import type { RawFields } from '../../http/fields/reader.js';
import { isGiven, readBoolean } from '../../http/fields/values.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';

/** Returns the record without a `disableAfter` that has passed, which would keep it disabled; the same one without. */
export const withoutPassedDate = <Stored extends GeofenceRecord | BeaconRecord>(
  record: Stored,
  nowMs: number,
): Stored =>
  'disableAfter' in record && record.disableAfter !== null && record.disableAfter < nowMs
    ? { ...record, disableAfter: null }
    : record;

/** Tests whether a patch enables its record. Null and empty text do too, because they put the field to its default. */
export const enables = ({ enabled }: RawFields): boolean =>
  enabled !== undefined && (!isGiven(enabled) || readBoolean(enabled) === true);

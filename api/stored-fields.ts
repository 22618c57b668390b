/**
 * The fields of stored geofences and beacons, as a request or an import gives them. Pure. Exports write them, and a
 * PATCH merges a change into them.
 *
 * The columns are those of the field tables, in their order. Each field of a table must have an entry here, so a new
 * field can't be forgotten. Reading the fields of a record gives the record again; a property proves it.
 */
import type { FieldTable } from '../http/fields/table.js';
import type { BeaconRecord } from '../schemas/json/beacon.js';
import type { GeofenceRecord, GeofenceType } from '../schemas/json/geofence.js';
import { isoTime } from '../schemas/wire/common.js';
import { beaconIdentifiers } from '../schemas/wire/geofence.js';
import { beaconFields } from './beacons/fields.js';
import { geofenceFields } from './geofences/fields.js';

/** A value in JSON; null: not set. */
export type FieldValue = string | number | boolean | object | null;

/** How to get a field from a record. Null: the field is never exported. */
type Source<Stored> = ((record: Stored) => FieldValue) | null;

/** The fields of a stored record by the names by which an import reads them. */
export interface ExportedFields<Stored> {
  /** The names of the fields, in the order of the table. */
  readonly names: readonly string[];
  /** Returns the values in the order of the names. */
  readonly values: (record: Stored) => FieldValue[];
}

/** Returns the type that the owner gave; a geofence of a place may have another. */
const givenType = ({ type, geometrySource }: GeofenceRecord): GeofenceType => geometrySource?.place?.type ?? type;

const geofenceSources: Record<keyof typeof geofenceFields, Source<GeofenceRecord>> = {
  description: ({ description }) => description,
  type: (record) => givenType(record),
  tag: ({ tag }) => tag,
  externalId: ({ externalId }) => externalId,
  placeId: ({ geometrySource }) => geometrySource?.place?.id ?? null,
  address: ({ geometrySource }) => geometrySource?.address?.query ?? null,
  // The ring of an isochrone is computed from its centre.
  coordinates: (record) => (givenType(record) === 'polygon' ? record.ring : record.center),
  // The radius of a polygon follows from its ring.
  radius: ({ type, radius, geometrySource }) => {
    if (geometrySource?.place) return geometrySource.place.radius;
    return type === 'polygon' ? null : radius;
  },
  mode: ({ mode }) => mode,
  enabled: ({ enabled }) => enabled,
  metadata: ({ metadata }) => metadata,
  operatingHours: ({ operatingHours }) => operatingHours,
  stopDetection: ({ stopDetection }) => stopDetection,
  dwellThreshold: (record) => record.dwellThreshold_min,
  disableAfter: ({ disableAfter }) => writtenTime(disableAfter),
  deleteAfter: ({ deleteAfter }) => writtenTime(deleteAfter),
  userIds: ({ userIds }) => userIds,
  userId: null,
  ip: ({ ip }) => ip,
  tripApproachingThreshold: null,
};

const identifier =
  (name: 'uuid' | 'major' | 'minor' | 'uid' | 'instance'): Source<BeaconRecord> =>
  (record) =>
    (beaconIdentifiers(record) as Partial<Record<string, string>>)[name] ?? null;

const beaconSources: Record<keyof typeof beaconFields, Source<BeaconRecord>> = {
  description: ({ description }) => description,
  type: ({ type }) => type,
  tag: ({ tag }) => tag,
  externalId: ({ externalId }) => externalId,
  uuid: identifier('uuid'),
  major: identifier('major'),
  minor: identifier('minor'),
  uid: identifier('uid'),
  instance: identifier('instance'),
  coordinates: ({ coordinates }) => coordinates,
  enabled: ({ enabled }) => enabled,
  metadata: ({ metadata }) => metadata,
  address: null,
  placeId: null,
  tripApproachingThreshold: null,
};

function exported<Stored>(
  table: FieldTable,
  sources: Readonly<Record<string, Source<Stored>>>,
): ExportedFields<Stored> {
  const names = Object.keys(table).filter((name) => sources[name] != null);
  const getters = names.map((name) => sources[name] as NonNullable<Source<Stored>>);
  return { names, values: (record) => getters.map((get) => get(record)) };
}

/** The fields of a geofence as a request would give them, for exports and patches. */
export const exportedGeofence: ExportedFields<GeofenceRecord> = exported(geofenceFields, geofenceSources);
/** The fields of a beacon as a request would give them, for exports and patches. */
export const exportedBeacon: ExportedFields<BeaconRecord> = exported(beaconFields, beaconSources);

const firstWrittenMs = Date.parse('0000-01-01T00:00:00.000Z');
const lastWrittenMs = Date.parse('9999-12-31T23:59:59.999Z');
/** The largest offset from UTC that a date may name. */
const maxOffsetMinutes = 23 * 60 + 59;

/**
 * Writes a time as ISO 8601 with four digits of the year. An offset brings the hours before the year 0 and after the
 * year 9999 into this form, which a date with an offset can mean.
 */
function writtenTime(epochMs: number | null): string | null {
  if (epochMs === null) return null;
  if (epochMs < firstWrittenMs) return withOffset(epochMs, maxOffsetMinutes, '+23:59');
  if (epochMs > lastWrittenMs) return withOffset(epochMs, -maxOffsetMinutes, '-23:59');
  return isoTime(epochMs);
}

const withOffset = (epochMs: number, offsetMinutes: number, offset: string): string =>
  isoTime(epochMs + offsetMinutes * 60_000).replace('Z', offset);

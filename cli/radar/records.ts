/** Turns geofences, beacons and settings as Radar's API lists them into fields of this API. Pure. */
import type { ListedRecord } from './pages.js';

/** The tag of records that have none. Their external id is then Radar's `_id`. */
const untagged = 'radar';

const copied = {
  geofences: [
    ...['description', 'metadata', 'userIds', 'userId', 'ip', 'dwellThreshold', 'stopDetection', 'enabled'],
    ...['operatingHours', 'disableAfter', 'deleteAfter', 'mode'],
  ],
  beacons: ['description', 'type', 'uuid', 'major', 'minor', 'uid', 'instance', 'enabled', 'metadata'],
} as const;

interface Geometry {
  readonly coordinates?: unknown;
}

/** Returns the fields of a geofence for an import. A geofence that can't be expressed is refused there. */
export function geofenceFields(record: ListedRecord): Record<string, unknown> {
  const type = String(record.type).toLowerCase();
  const ring = ((record.geometry as Geometry | undefined)?.coordinates as unknown[] | undefined) ?? [];
  const position =
    type === 'polygon'
      ? // Rings after the first are holes, which an import refuses with the row.
        { coordinates: ring.length === 1 ? ring[0] : ring }
      : { coordinates: (record.geometryCenter as Geometry | undefined)?.coordinates, radius: record.geometryRadius };
  return withoutGaps({ ...pick(record, copied.geofences), ...pairOf(record), type, ...position });
}

/** Returns the fields of a beacon for an import. */
export const beaconFields = (record: ListedRecord): Record<string, unknown> =>
  withoutGaps({
    ...pick(record, copied.beacons),
    ...pairOf(record),
    coordinates: (record.geometry as Geometry | undefined)?.coordinates,
  });

function pairOf({ _id, tag, externalId }: ListedRecord): { readonly tag: unknown; readonly externalId: unknown } {
  return { tag: tag || untagged, externalId: externalId || _id };
}

/** A list without items, as of `userIds`, is not set. An import refuses it, because an owner may mean nobody. */
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const pick = (record: ListedRecord, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, isEmptyList(record[name]) ? undefined : record[name]]));

/** Leaves out what is not set. An import would take null as an empty field, with the same effect. */
const withoutGaps = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  );

interface SdkAnswer {
  readonly meta?: {
    readonly sdkConfiguration?: Readonly<Record<string, unknown>>;
    readonly settings?: { readonly beacons?: { readonly uuids?: unknown; readonly uids?: unknown } };
  };
}

/**
 * Returns the settings that the answers of `/v1/config` and `/v1/search/beacons` disclose. Radar's API has no route
 * that lists them all; what it does not disclose must be set by hand.
 */
export function settingsFrom(config: SdkAnswer, beacons: SdkAnswer): Record<string, unknown> {
  const { sdkConfiguration = {} } = config.meta ?? {};
  const { uuids, uids } = beacons.meta?.settings?.beacons ?? {};
  const threshold = sdkConfiguration.defaultGeofenceDwellThreshold;
  return withoutGaps({
    stopDetection: sdkConfiguration.stopDetection,
    bufferEntries: sdkConfiguration.bufferGeofenceEntries,
    bufferExits: sdkConfiguration.bufferGeofenceExits,
    ...(typeof threshold === 'number' && threshold > 0 && { dwellEvents: true, defaultDwellThreshold: threshold }),
    beaconUuids: uuids,
    beaconUids: uids,
  });
}

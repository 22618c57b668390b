/** Geofences and beacons: from the record that is kept to the record that is answered. */
import type { Beacon, BeaconRecord } from '../json/beacon.js';
import type { Position } from '../json/common.js';
import type { Geofence, GeofenceRecord, GeofenceSummary } from '../json/geofence.js';
import type { EventBeacon, EventGeofence } from '../records.js';
import { isoTime, point, withoutUnset } from './common.js';

const circleVertices = 32;
const earthRadiusM = 6_371_000;

/**
 * A circle drawn as a closed ring of 33 positions, first due east, counter-clockwise, for clients that draw polygons
 * only.
 * Longitudes stay within [-180, 180]. An approximation for pictures: evaluation never uses it.
 */
export function circleRing([longitude, latitude]: Position, radiusM: number): Position[] {
  const reach = (radiusM / earthRadiusM) * (180 / Math.PI);
  const squeeze = Math.max(Math.cos((latitude * Math.PI) / 180), 1e-6);
  const ring = Array.from({ length: circleVertices }, (_, index): Position => {
    const angle = (2 * Math.PI * index) / circleVertices;
    const x = longitude + (reach / squeeze) * Math.cos(angle);
    const y = latitude + reach * Math.sin(angle);
    return [((((x + 180) % 360) + 360) % 360) - 180, Math.min(90, Math.max(-90, y))];
  });
  return [...ring, ring[0] as Position];
}

/** `nowMs` decides whether a geofence past its `disableAfter` still shows as enabled. */
export function geofenceJson(record: GeofenceRecord, nowMs: number, includeGeometry = true): Geofence {
  const ring = includeGeometry ? (record.ring ?? circleRing(record.center, record.radius)) : undefined;
  return {
    _id: record._id,
    createdAt: isoTime(record.createdAt),
    updatedAt: isoTime(record.updatedAt),
    live: record.environment === 'live',
    tag: record.tag,
    externalId: record.externalId,
    description: record.description,
    type: record.type,
    ...(ring && { geometry: { type: 'Polygon', coordinates: [ring] } }),
    geometryCenter: point(...record.center),
    geometryRadius: record.radius,
    enabled: record.enabled && (record.disableAfter === null || nowMs <= record.disableAfter),
    ...withoutUnset({
      mode: record.mode,
      metadata: record.metadata,
      operatingHours: record.operatingHours,
      stopDetection: record.stopDetection,
      dwellThreshold: record.dwellThreshold_min,
      disableAfter: record.disableAfter === null ? null : isoTime(record.disableAfter),
      deleteAfter: record.deleteAfter === null ? null : isoTime(record.deleteAfter),
      userIds: record.userIds?.join(',') ?? null,
      ip: record.ip,
    }),
  };
}

/** The form inside users, contexts and events. */
export const geofenceSummary = (record: GeofenceRecord): GeofenceSummary => ({
  _id: record._id,
  tag: record.tag,
  externalId: record.externalId,
  description: record.description,
  type: record.type,
  ...(record.metadata && { metadata: record.metadata }),
  geometryCenter: point(...record.center),
  geometryRadius: record.radius,
});

export const eventGeofence = (record: GeofenceRecord): EventGeofence => ({
  id: record._id,
  tag: record.tag,
  externalId: record.externalId,
  description: record.description,
  type: record.type,
  metadata: record.metadata && JSON.stringify(record.metadata),
  centerLongitude: record.center[0],
  centerLatitude: record.center[1],
  radius: record.radius,
});

/** `uuid`, `major` and `minor` of an ibeacon, `uid` and `instance` of an eddystone. */
export const beaconIdentifiers = (beacon: Pick<BeaconRecord, 'type' | 'group' | 'major' | 'minor'>) =>
  beacon.type === 'ibeacon'
    ? { uuid: beacon.group, major: beacon.major, minor: beacon.minor }
    : { uid: beacon.group, instance: beacon.minor };

export const beaconJson = (record: BeaconRecord): Beacon => ({
  createdAt: isoTime(record.createdAt),
  updatedAt: isoTime(record.updatedAt),
  live: record.environment === 'live',
  ...beaconSummary(record),
});

/** The form inside users, contexts and search answers. */
export const beaconSummary = (record: BeaconRecord): Beacon => ({
  _id: record._id,
  description: record.description,
  type: record.type,
  ...beaconIdentifiers(record),
  ...withoutUnset({ tag: record.tag, externalId: record.externalId, metadata: record.metadata }),
  geometry: point(...record.coordinates),
  enabled: record.enabled,
});

export const eventBeacon = (record: BeaconRecord): EventBeacon => ({
  id: record._id,
  tag: record.tag,
  externalId: record.externalId,
  description: record.description,
  type: record.type,
  group: record.group,
  major: record.major,
  minor: record.minor,
  metadata: record.metadata && JSON.stringify(record.metadata),
});

/** Converts stored geofences and beacons to the API's JSON and to the form that events carry. */
import type { Beacon, BeaconRecord } from '../json/beacon.js';
import type { Position } from '../json/common.js';
import {
  type AddressSource,
  type Geofence,
  type GeofenceHead,
  type GeofenceRecord,
  type GeofenceSummary,
  type GeometrySource,
  type IsochroneSource,
  isEnabledAt,
} from '../json/geofence.js';
import type { EventBeacon, EventGeofence } from '../records.js';
import { isoTime, listText, point, withoutUnset } from './common.js';

const circleVertices = 32;
const earthRadiusM = 6_371_000;

/**
 * Returns a circle as a closed ring of 33 positions, counter-clockwise from due east, for clients that draw only
 * polygons. Longitudes are within [-180, 180]. Evaluation does not use this approximation.
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

/**
 * Returns a geofence as the API shows it; a head without geometry. A geofence whose `disableAfter` is before `nowMs` is
 * shown as disabled.
 */
export function geofenceJson(record: GeofenceRecord | GeofenceHead, nowMs: number): Geofence {
  const ring = 'ring' in record ? (record.ring ?? circleRing(record.center, record.radius)) : undefined;
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
    enabled: isEnabledAt(record, nowMs),
    ...withoutUnset({
      mode: record.mode,
      address: record.geometrySource?.address?.query,
      placeId: record.geometrySource?.place?.id,
      geometrySource: shownSource(record.geometrySource),
      metadata: record.metadata,
      operatingHours: record.operatingHours,
      stopDetection: record.stopDetection,
      dwellThreshold: record.dwellThreshold_min,
      disableAfter: record.disableAfter === null ? null : isoTime(record.disableAfter),
      deleteAfter: record.deleteAfter === null ? null : isoTime(record.deleteAfter),
      userIds: record.userIds && listText(record.userIds),
      ip: record.ip,
    }),
  };
}

/** Returns the same without metadata, for answers that have much of it. */
export const geofenceJsonWithoutMetadata = (record: GeofenceRecord | GeofenceHead, nowMs: number): Geofence => ({
  ...geofenceJson({ ...record, metadata: null }, nowMs),
  metadataOmitted: true,
});

const unmatchedPlace = 'the catalogue had no such place at the last edit, so the geofence has its own geometry';

function shownSource({ isochrone, address, place }: GeometrySource = {}): Geofence['geometrySource'] {
  const shown = {
    ...(isochrone && { isochrone: shownIsochrone(isochrone) }),
    ...(address && { address: shownAddress(address) }),
    ...(place?.geometryHash === null && { place: { warning: unmatchedPlace } }),
  };
  return Object.keys(shown).length > 0 ? shown : undefined;
}

/** Returns what computed an isochrone, as the API shows it. */
export const shownIsochrone = ({ provider, providerVersion, roadDataAt, computedAt }: IsochroneSource) => ({
  provider,
  ...withoutUnset({ providerVersion, roadDataAt: roadDataAt === null ? null : isoTime(roadDataAt) }),
  computedAt: isoTime(computedAt),
});

const shownAddress = ({ provider, formattedAddress, position, resolvedAt, warning }: AddressSource) => ({
  ...withoutUnset({ provider, formattedAddress, location: position && point(...position), warning }),
  resolvedAt: isoTime(resolvedAt),
});

/** The fields that a summary shows. */
type SummarizedGeofence = Pick<
  GeofenceRecord,
  '_id' | 'tag' | 'externalId' | 'description' | 'type' | 'metadata' | 'center' | 'radius'
>;

/** Returns the summary that users, context responses and events contain. */
export const geofenceSummary = (record: SummarizedGeofence): GeofenceSummary => ({
  _id: record._id,
  tag: record.tag,
  externalId: record.externalId,
  description: record.description,
  type: record.type,
  ...(record.metadata && { metadata: record.metadata }),
  geometryCenter: point(...record.center),
  geometryRadius: record.radius,
});

/** Returns the geofence as events carry it. Metadata is JSON text, and the centre in degrees. */
export const eventGeofence = (record: SummarizedGeofence): EventGeofence => ({
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

/** Returns `uuid`, `major` and `minor` of an iBeacon, or `uid` and `instance` of an Eddystone beacon. */
export const beaconIdentifiers = (beacon: Pick<BeaconRecord, 'type' | 'group' | 'major' | 'minor'>) =>
  beacon.type === 'ibeacon'
    ? { uuid: beacon.group, major: beacon.major, minor: beacon.minor }
    : { uid: beacon.group, instance: beacon.minor };

/** Returns the beacon as the API answers it: its summary with times and environment. */
export const beaconJson = (record: BeaconRecord): Beacon => ({
  createdAt: isoTime(record.createdAt),
  updatedAt: isoTime(record.updatedAt),
  live: record.environment === 'live',
  ...beaconSummary(record),
});

/** Returns the summary that users, context responses and search responses contain. */
export const beaconSummary = (record: BeaconRecord): Beacon => ({
  _id: record._id,
  description: record.description,
  type: record.type,
  ...beaconIdentifiers(record),
  ...withoutUnset({ tag: record.tag, externalId: record.externalId, metadata: record.metadata }),
  geometry: point(...record.coordinates),
  enabled: record.enabled,
});

/** Returns the beacon as events carry it. Metadata is JSON text, and the position in degrees. */
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
  longitude: record.coordinates[0],
  latitude: record.coordinates[1],
});

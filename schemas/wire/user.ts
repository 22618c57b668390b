/** Converts users and events from Avro records to the JSON that SDKs, the API and webhooks receive. */
import type { Beacon } from '../json/beacon.js';
import type { Environment } from '../json/common.js';
import type { GeofenceSummary } from '../json/geofence.js';
import type { Event as EventJson, User, UserProfile } from '../json/user.js';
import type { Event, EventBeacon, EventGeofence, EventUser, LastLocation } from '../records.js';
import { isoTime, point, withoutUnset } from './common.js';
import { beaconIdentifiers } from './geofence.js';

/** The parts of a user's JSON. */
export interface UserParts {
  readonly id: string;
  readonly environment: Environment;
  readonly deviceId: string;
  readonly userId: string | null;
  readonly createdAt: number;
  readonly profile: UserProfile;
  readonly last: Pick<
    LastLocation,
    'occurredAt' | 'receivedAt' | 'latitude' | 'longitude' | 'accuracy_m' | 'foreground' | 'stopped' | 'ip' | 'source'
  >;
  readonly geofences: GeofenceSummary[];
  readonly beacons: Beacon[];
}

/** Returns the user as the API answers it, with the last location. */
export const userJson = ({ last, ...user }: UserParts): User => ({
  _id: user.id,
  live: user.environment === 'live',
  deviceId: user.deviceId,
  ...(user.userId !== null && { userId: user.userId }),
  ...user.profile,
  location: point(last.longitude, last.latitude),
  locationAccuracy: last.accuracy_m,
  foreground: last.foreground,
  stopped: last.stopped,
  ...withoutUnset({ ip: last.ip, source: last.source }),
  createdAt: isoTime(user.createdAt),
  updatedAt: isoTime(last.occurredAt),
  actualUpdatedAt: isoTime(last.receivedAt),
  geofences: user.geofences,
  beacons: user.beacons,
});

const parsed = <T>(json: string | null): T | null => (json === null ? null : (JSON.parse(json) as T));

function eventUserJson(user: EventUser): NonNullable<EventJson['user']> {
  const { installId, metadata, locationAuthorization, locationAccuracyAuthorization } =
    parsed<UserProfile>(user.profile) ?? {};
  return withoutUnset({
    _id: user.id,
    userId: user.userId,
    deviceId: user.deviceId,
    installId,
    metadata,
    locationAuthorization,
    locationAccuracyAuthorization,
  });
}

const eventGeofenceJson = (geofence: EventGeofence): GeofenceSummary => ({
  _id: geofence.id,
  ...withoutUnset({ tag: geofence.tag, externalId: geofence.externalId }),
  description: geofence.description,
  type: geofence.type as GeofenceSummary['type'],
  ...withoutUnset({ metadata: parsed<Record<string, string | number | boolean>>(geofence.metadata) }),
  geometryCenter: point(geofence.centerLongitude, geofence.centerLatitude),
  geometryRadius: geofence.radius,
});

const eventBeaconJson = (beacon: EventBeacon): Beacon => ({
  _id: beacon.id,
  description: beacon.description,
  type: beacon.type,
  ...beaconIdentifiers(beacon),
  ...withoutUnset({
    tag: beacon.tag,
    externalId: beacon.externalId,
    metadata: parsed<Record<string, string | number | boolean>>(beacon.metadata),
  }),
  ...(beacon.longitude !== null && beacon.latitude !== null && { geometry: point(beacon.longitude, beacon.latitude) }),
  // A disabled beacon makes no events.
  enabled: true,
});

/** Returns the event as SDKs, the API and webhooks receive it, without fields that are not set. */
export const eventJson = (event: Event): EventJson => ({
  _id: event.id,
  type: event.type,
  createdAt: isoTime(event.createdAt),
  actualCreatedAt: isoTime(event.actualCreatedAt),
  live: event.environment === 'live',
  ...(event.user && { user: eventUserJson(event.user) }),
  ...(event.geofence && { geofence: eventGeofenceJson(event.geofence) }),
  ...(event.beacon && { beacon: eventBeaconJson(event.beacon) }),
  ...(event.longitude !== null && event.latitude !== null && { location: point(event.longitude, event.latitude) }),
  confidence: event.confidence,
  replayed: event.replayed,
  ...withoutUnset({
    locationAccuracy: event.accuracy_m,
    duration: event.duration_min,
    currentlyOperating: event.currentlyOperating,
    foreground: event.foreground,
    stopped: event.stopped,
    source: event.source,
    metadata: parsed<Record<string, string | number | boolean>>(event.metadata),
  }),
  ...(event.metadataOmitted && { metadataOmitted: true }),
});

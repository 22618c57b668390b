/**
 * TypeScript types of the Avro records in `avro/`; a test compares both. Times are epoch milliseconds.
 */
import type { BeaconType } from './json/beacon.js';
import type { Environment } from './json/common.js';
import type { AttemptResult, AttemptState } from './json/webhook.js';

/** A beacon in range. Identifiers are in normal form, see location.avsc. */
export interface RangedBeacon {
  type: BeaconType;
  group: string;
  major: string;
  minor: string;
  rssi_dbm: number | null;
}

/** What a location reports beside its point, as the client sent it. Null: the client did not send it. */
export interface LocationDetails {
  installId: string | null;
  sessionId: string | null;
  description: string | null;
  /** JSON object. */
  metadata: string | null;
  deviceType: string | null;
  deviceMake: string | null;
  deviceModel: string | null;
  deviceOS: string | null;
  sdkVersion: string | null;
  locationAuthorization: string | null;
  locationAccuracyAuthorization: string | null;
  altitude_m: number | null;
  speed_mps: number | null;
  course_deg: number | null;
  timeZoneOffset_s: number | null;
  /** Kept, never trusted: the epoch on iOS, time since boot on Android. */
  locationMs: number | null;
  /** Whether the reply shall have the geofences near the location. */
  nearbyGeofences: boolean;
}

/** One accepted location update. */
export interface Location {
  id: string;
  project: string;
  environment: Environment;
  deviceId: string;
  userId: string | null;
  latitude: number;
  longitude: number;
  accuracy_m: number;
  occurredAt: number;
  receivedAt: number;
  deviceTimed: boolean;
  foreground: boolean;
  stopped: boolean;
  replayed: boolean;
  beacons: RangedBeacon[] | null;
  ip: string | null;
  source: string | null;
  replyTo: string | null;
  details: LocationDetails | null;
}

/**
 * `applied`: it changed the state. `repeat`: the same fix again. `stale`: older than the last applied one. The last two
 * make no events.
 */
export type OutcomeResult = 'applied' | 'repeat' | 'stale';

/** The effects of one accepted location. */
export interface Outcome {
  location: Location;
  result: OutcomeResult;
  user: string;
  userCreatedAt: number;
  profile: string | null;
  geofences: string[];
  beacons: string[];
  events: string[];
}

/** The user of an event. Null fields were not known to what reported the event, such as a conversion. */
export interface EventUser {
  id: string | null;
  userId: string | null;
  deviceId: string | null;
  /** JSON of a UserProfile. */
  profile: string | null;
}

/** The geofence of an event as it was at that time. `metadata` is a JSON object. */
export interface EventGeofence {
  id: string;
  tag: string | null;
  externalId: string | null;
  description: string;
  type: string;
  metadata: string | null;
  centerLongitude: number;
  centerLatitude: number;
  /** Circle: metres. Polygon: metres from the centre to the furthest vertex. Isochrone: minutes. */
  radius: number;
}

/** The beacon of an event as it was at that time. Identifiers are in normal form. `metadata` is a JSON object. */
export interface EventBeacon {
  id: string;
  tag: string | null;
  externalId: string | null;
  description: string;
  type: BeaconType;
  group: string;
  major: string;
  minor: string;
  metadata: string | null;
  /** In degrees; null in events of earlier releases. */
  longitude: number | null;
  latitude: number | null;
}

/** Something that happened to a user. The same event always has the same id and the same bytes. */
export interface Event {
  id: string;
  type: string;
  project: string;
  environment: Environment;
  createdAt: number;
  actualCreatedAt: number;
  /** Null for a conversion, which no location causes; so are the point and its accuracy. */
  locationId: string | null;
  user: EventUser | null;
  geofence: EventGeofence | null;
  beacon: EventBeacon | null;
  longitude: number | null;
  latitude: number | null;
  accuracy_m: number | null;
  /** 1 low, 2 medium, 3 high. */
  confidence: number;
  /** Minutes since the entry, of exits and dwells. A conversion has the minutes that it reports. */
  duration_min: number | null;
  /** Null unless the geofence has operating hours. */
  currentlyOperating: boolean | null;
  foreground: boolean | null;
  stopped: boolean | null;
  replayed: boolean;
  source: string | null;
  /** JSON object of a conversion; null for other events. */
  metadata: string | null;
  /** Whether the metadata of the user and of the geofence or beacon is left out, because the location has too much. */
  metadataOmitted: boolean;
}

/** Kinds of records of topic `changes`. A record's key in the topic is `kind/id`. */
export type ChangeKind =
  | 'project'
  | 'geofence'
  | 'beacon'
  | 'webhook'
  | 'map-style'
  | 'map-marker'
  | 'import'
  | 'import-part'
  | 'place'
  | 'sync'
  | 'account'
  | 'erasure';

/** The newest state of one record of the configuration. A tombstone deletes it. */
export interface Change {
  kind: ChangeKind;
  id: string;
  changedAt: number;
  /** JSON of the record of the kind, such as a ProjectRecord or a GeofenceRecord. */
  record: string;
}

/** A record that could not be read or evaluated, with the bytes as they came. `reason` is a stable code. */
export interface DeadLetter {
  topic: string;
  partition: number;
  offset: number;
  key: Buffer | null;
  value: Buffer | null;
  reason: string;
  message: string;
  failedAt: number;
}

/** Why a delivery was made: by an event, or because an owner asked for a redelivery or a test. */
export type DeliveryReason = 'event' | 'redelivery' | 'test';

/** One request to one webhook, with the bytes that every attempt sends. */
export interface Delivery {
  id: string;
  webhook: string;
  project: string;
  environment: Environment;
  orderKey: string;
  events: string[];
  body: Buffer;
  reason: DeliveryReason;
  createdAt: number;
}

/** An attempt to deliver, with the response. */
export interface Attempt {
  id: string;
  delivery: Delivery;
  attempt: number;
  at: number;
  duration_ms: number;
  url: string;
  result: AttemptResult;
  message: string | null;
  state: AttemptState;
  nextAttemptAt: number | null;
  status: number | null;
  responseHeaders: string | null;
  responseBody: Buffer | null;
}

/** The number of locations that one endpoint rejected for one reason in a short interval. */
export interface Rejection {
  id: string;
  project: string;
  environment: Environment;
  endpoint: string;
  code: string;
  param: string | null;
  count: number;
  at: number;
}

/** The last location that was applied for a user. */
export interface LastLocation {
  occurredAt: number;
  receivedAt: number;
  latitude: number;
  longitude: number;
  accuracy_m: number;
  deviceTimed: boolean;
  foreground: boolean;
  stopped: boolean;
  /** The beacons in range as one comparable text; null if the location did not report beacons. */
  beacons: string | null;
  ip: string | null;
  source: string | null;
}

/** A visit that goes on: the user is inside a geofence, or in range of a beacon, since a time. */
export interface Visit {
  id: string;
  since: number;
  dwelled: boolean;
  /**
   * Creation time of the geofence or beacon that was entered. Distinguishes it from a later one with the same id. Null
   * in states of earlier releases.
   */
  generation: number | null;
}

/** The state of one user record: one user on one device, or an anonymous device. */
export interface UserState {
  id: string;
  userId: string | null;
  createdAt: number;
  /** JSON of a UserProfile; null until the device reports one. */
  profile: string | null;
  /** Null until a location is applied. */
  last: LastLocation | null;
  /** By time of entry. */
  geofences: Visit[];
  beacons: Visit[];
}

/** All state of a device. `users[0]` is the user whose location was applied last. */
export interface DeviceState {
  users: UserState[];
  /** The device's clock at the fix of its last location, from an unknown start; null if the device did not tell it. */
  locationMs: number | null;
  /**
   * Ids of fixes that were applied at the time of the last location and before it, 24 hex digits each; absent if there
   * are none. Not in the Avro schema: `records/device-state.ts` stores them.
   */
  overtaken?: readonly string[];
}

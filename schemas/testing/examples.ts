/**
 * One plain, valid record of each kind, with the fields of interest on top: an event is an entry into a circle at [10,
 * 50].
 */
import { deriveId } from '../ids.js';
import type { Event, EventBeacon, EventGeofence, Location, LocationDetails, Outcome } from '../records.js';

const project = deriveId('project', 'x');
const user = deriveId('user', 'x');
const locationId = deriveId('location', 'x');
const at = Date.UTC(2026, 0, 1);

/** All details unset. */
const details: LocationDetails = {
  installId: null,
  sessionId: null,
  description: null,
  metadata: null,
  deviceType: null,
  deviceMake: null,
  deviceModel: null,
  deviceOS: null,
  sdkVersion: null,
  locationAuthorization: null,
  locationAccuracyAuthorization: null,
  altitude_m: null,
  speed_mps: null,
  course_deg: null,
  timeZoneOffset_s: null,
  locationMs: null,
  nearbyGeofences: false,
};

/** Returns details with the changes; all others are null. */
export const exampleDetails = (changes: Partial<LocationDetails> = {}): LocationDetails => ({ ...details, ...changes });

/** Returns a location with the changes. */
export const exampleLocation = (changes: Partial<Location> = {}): Location => ({
  id: locationId,
  project,
  environment: 'test',
  deviceId: 'device',
  userId: null,
  latitude: 50,
  longitude: 10,
  accuracy_m: 0,
  occurredAt: at,
  receivedAt: at,
  deviceTimed: true,
  foreground: true,
  stopped: false,
  replayed: false,
  beacons: null,
  ip: null,
  source: null,
  replyTo: null,
  details: null,
  ...changes,
});

/** Returns the outcome of an applied location, with the changes. */
export const exampleOutcome = (changes: Partial<Outcome> = {}): Outcome => ({
  location: exampleLocation(),
  result: 'applied',
  user,
  userCreatedAt: at,
  profile: null,
  geofences: [],
  beacons: [],
  events: [],
  ...changes,
});

/** Returns a geofence as events carry it, with the changes. */
export const exampleEventGeofence = (changes: Partial<EventGeofence> = {}): EventGeofence => ({
  id: deriveId('geofence', 'x'),
  tag: 'store',
  externalId: 'x',
  description: 'A fence',
  type: 'circle',
  metadata: null,
  centerLongitude: 10,
  centerLatitude: 50,
  radius: 100,
  ...changes,
});

/** Returns a beacon as events carry it, with the changes. */
export const exampleEventBeacon = (changes: Partial<EventBeacon> = {}): EventBeacon => ({
  id: deriveId('beacon', 'x'),
  tag: 'store',
  externalId: 'x',
  description: 'A beacon',
  type: 'ibeacon',
  group: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
  major: '1',
  minor: '2',
  metadata: null,
  longitude: 10,
  latitude: 50,
  ...changes,
});

/** Returns an entry into {@link exampleEventGeofence}, with the changes. */
export const exampleEvent = (changes: Partial<Event> = {}): Event => ({
  id: deriveId('event', 'x'),
  type: 'user.entered_geofence',
  project,
  environment: 'test',
  createdAt: at,
  actualCreatedAt: at,
  locationId,
  user: { id: user, userId: null, deviceId: 'device', profile: null },
  geofence: exampleEventGeofence(),
  beacon: null,
  longitude: 10,
  latitude: 50,
  accuracy_m: 5,
  confidence: 3,
  duration_min: null,
  currentlyOperating: null,
  foreground: true,
  stopped: false,
  replayed: false,
  source: null,
  metadata: null,
  metadataOmitted: false,
  ...changes,
});

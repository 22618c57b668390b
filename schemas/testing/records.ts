/**
 * Random records of every Avro type, for property tests. They have the types of `records.ts`, so a missing or extra
 * field fails to compile.
 */
import fc from 'fast-check';
import type { AttemptResult } from '../json/webhook.js';
import { attemptResults } from '../json/webhook.js';
import type {
  Attempt,
  Change,
  DeadLetter,
  Delivery,
  DeviceState,
  Event,
  EventBeacon,
  EventGeofence,
  EventUser,
  LastLocation,
  Location,
  LocationDetails,
  Outcome,
  RangedBeacon,
  Rejection,
  UserState,
  Visit,
} from '../records.js';

const id = fc.stringMatching(/^[0-9a-f]{24}$/);
const text = fc.string({ unit: 'grapheme', maxLength: 40 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const time = fc.integer({ min: 0, max: 4_102_444_800_000 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const json = fc
  .dictionary(fc.string(), fc.oneof(fc.string(), fc.boolean(), fc.integer()), { maxKeys: 4 })
  .map((value) => JSON.stringify(value));
const environment = fc.constantFrom('test' as const, 'live' as const);
const beaconType = fc.constantFrom('ibeacon' as const, 'eddystone' as const);
const latitude = fc.double({ min: -90, max: 90, noNaN: true });
const longitude = fc.double({ min: -180, max: 180, noNaN: true });
const accuracy_m = fc.double({ min: 0, max: 10_000, noNaN: true });

const rangedBeacon: fc.Arbitrary<RangedBeacon> = fc.record({
  type: beaconType,
  group: text,
  major: text,
  minor: text,
  rssi_dbm: maybe(fc.integer({ min: -120, max: 0 })),
});

const locationDetails: fc.Arbitrary<LocationDetails> = fc.record({
  installId: maybe(text),
  sessionId: maybe(text),
  description: maybe(text),
  metadata: maybe(json),
  deviceType: maybe(text),
  deviceMake: maybe(text),
  deviceModel: maybe(text),
  deviceOS: maybe(text),
  sdkVersion: maybe(text),
  locationAuthorization: maybe(text),
  locationAccuracyAuthorization: maybe(text),
  altitude_m: maybe(number),
  speed_mps: maybe(number),
  course_deg: maybe(number),
  timeZoneOffset_s: maybe(number),
  locationMs: maybe(number),
  nearbyGeofences: fc.boolean(),
});

/** Generates locations. */
export const location: fc.Arbitrary<Location> = fc.record({
  id,
  project: id,
  environment,
  deviceId: text,
  userId: maybe(text),
  latitude,
  longitude,
  accuracy_m,
  occurredAt: time,
  receivedAt: time,
  deviceTimed: fc.boolean(),
  foreground: fc.boolean(),
  stopped: fc.boolean(),
  replayed: fc.boolean(),
  beacons: maybe(fc.array(rangedBeacon, { maxLength: 4 })),
  ip: maybe(fc.ipV4()),
  source: maybe(text),
  replyTo: maybe(text),
  details: maybe(locationDetails),
});

/** Generates outcomes. */
export const outcome: fc.Arbitrary<Outcome> = fc.record({
  location,
  result: fc.constantFrom('applied', 'repeat', 'stale'),
  user: id,
  userCreatedAt: time,
  profile: maybe(json),
  geofences: fc.array(id, { maxLength: 4 }),
  beacons: fc.array(id, { maxLength: 4 }),
  events: fc.array(id, { maxLength: 4 }),
});

const eventUser: fc.Arbitrary<EventUser> = fc.record({
  id: maybe(id),
  userId: maybe(text),
  deviceId: maybe(text),
  profile: maybe(json),
});

const eventGeofence: fc.Arbitrary<EventGeofence> = fc.record({
  id,
  tag: maybe(text),
  externalId: maybe(text),
  description: text,
  type: fc.constantFrom('circle', 'polygon', 'isochrone'),
  metadata: maybe(json),
  centerLongitude: longitude,
  centerLatitude: latitude,
  radius: fc.double({ min: 10, max: 10_000, noNaN: true }),
});

const eventBeacon: fc.Arbitrary<EventBeacon> = fc.record({
  id,
  tag: maybe(text),
  externalId: maybe(text),
  description: text,
  type: beaconType,
  group: text,
  major: text,
  minor: text,
  metadata: maybe(json),
  longitude: maybe(longitude),
  latitude: maybe(latitude),
});

/** Generates events, of which any part may be absent. */
export const event: fc.Arbitrary<Event> = fc.record({
  id,
  type: fc.constantFrom('user.entered_geofence', 'user.exited_beacon', 'a conversion'),
  project: id,
  environment,
  createdAt: time,
  actualCreatedAt: time,
  locationId: maybe(id),
  user: maybe(eventUser),
  geofence: maybe(eventGeofence),
  beacon: maybe(eventBeacon),
  longitude: maybe(longitude),
  latitude: maybe(latitude),
  accuracy_m: maybe(accuracy_m),
  confidence: fc.integer({ min: 1, max: 3 }),
  duration_min: maybe(fc.double({ min: 0, max: 1e6, noNaN: true })),
  currentlyOperating: maybe(fc.boolean()),
  foreground: maybe(fc.boolean()),
  stopped: maybe(fc.boolean()),
  replayed: fc.boolean(),
  source: maybe(text),
  metadata: maybe(json),
  metadataOmitted: fc.boolean(),
});

/** Generates changes of any kind, with JSON that need not be a valid record. */
export const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('project', 'geofence', 'beacon', 'webhook', 'map-style', 'map-marker', 'place', 'account'),
  id,
  changedAt: time,
  record: json,
});

const bytes = fc.uint8Array({ maxLength: 64 }).map((array) => Buffer.from(array));

/** Generates dead letters. */
export const deadLetter: fc.Arbitrary<DeadLetter> = fc.record({
  topic: text,
  partition: fc.integer({ min: 0, max: 1_023 }),
  offset: fc.integer({ min: 0, max: 2 ** 50 }),
  key: maybe(bytes),
  value: maybe(bytes),
  reason: text,
  message: text,
  failedAt: time,
});

/** Generates deliveries. */
export const delivery: fc.Arbitrary<Delivery> = fc.record({
  id,
  webhook: id,
  project: id,
  environment,
  orderKey: text,
  events: fc.array(id, { maxLength: 5 }),
  body: bytes,
  reason: fc.constantFrom('event' as const, 'redelivery' as const, 'test' as const),
  createdAt: time,
});

/** Generates attempts with any result. */
export const attempt: fc.Arbitrary<Attempt> = fc.record({
  id,
  delivery,
  attempt: fc.integer({ min: 1, max: 8 }),
  at: time,
  duration_ms: fc.double({ min: 0, max: 60_000, noNaN: true }),
  url: text,
  result: fc.constantFrom(...(Object.keys(attemptResults) as AttemptResult[])),
  message: maybe(text),
  state: fc.constantFrom('delivered' as const, 'retrying' as const, 'given_up' as const),
  nextAttemptAt: maybe(time),
  status: maybe(fc.integer({ min: 100, max: 599 })),
  responseHeaders: maybe(json),
  responseBody: maybe(bytes),
});

/** Generates counts of refused locations. */
export const rejection: fc.Arbitrary<Rejection> = fc.record({
  id,
  project: id,
  environment,
  endpoint: text,
  code: text,
  param: maybe(text),
  count: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  at: time,
});

const lastLocation: fc.Arbitrary<LastLocation> = fc.record({
  occurredAt: time,
  receivedAt: time,
  latitude,
  longitude,
  accuracy_m,
  deviceTimed: fc.boolean(),
  foreground: fc.boolean(),
  stopped: fc.boolean(),
  beacons: maybe(text),
  ip: maybe(fc.ipV4()),
  source: maybe(text),
});

const visit: fc.Arbitrary<Visit> = fc.record({ id, since: time, dwelled: fc.boolean(), generation: fc.option(time) });

const userState: fc.Arbitrary<UserState> = fc.record({
  id,
  userId: maybe(text),
  createdAt: time,
  profile: maybe(json),
  last: maybe(lastLocation),
  geofences: fc.array(visit, { maxLength: 4 }),
  beacons: fc.array(visit, { maxLength: 4 }),
});

/** Generates states of devices with up to three users. */
export const deviceState: fc.Arbitrary<DeviceState> = fc.record({
  users: fc.array(userState, { maxLength: 3 }),
  locationMs: maybe(number),
});

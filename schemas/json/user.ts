/** JSON Schemas of users and events as the API, the SDKs and webhooks receive them. */
import Type, { type Static } from 'typebox';
import { Beacon } from './beacon.js';
import { Id, Metadata, Timestamp } from './common.js';
import { GeofenceSummary } from './geofence.js';

/** GeoJSON point with an optional altitude. */
const DevicePoint = Type.Object({
  type: Type.Literal('Point'),
  coordinates: Type.Array(Type.Number(), { minItems: 2, maxItems: 3 }),
});

/** A user as the API, the SDKs and webhooks show it. */
export const User = Type.Object(
  {
    _id: Id,
    live: Type.Boolean(),
    userId: Type.Optional(Type.String()),
    deviceId: Type.String(),
    installId: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    metadata: Type.Optional(Metadata),
    location: DevicePoint,
    locationAccuracy: Type.Number({ description: 'Radius of uncertainty in metres' }),
    foreground: Type.Boolean(),
    stopped: Type.Boolean(),
    deviceType: Type.Optional(Type.String()),
    deviceMake: Type.Optional(Type.String()),
    deviceModel: Type.Optional(Type.String()),
    deviceOS: Type.Optional(Type.String()),
    sdkVersion: Type.Optional(Type.String()),
    locationAuthorization: Type.Optional(Type.String()),
    locationAccuracyAuthorization: Type.Optional(Type.String()),
    ip: Type.Optional(Type.String()),
    source: Type.Optional(Type.String()),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    actualUpdatedAt: Timestamp,
    geofences: Type.Array(GeofenceSummary),
    beacons: Type.Array(Beacon),
  },
  { $id: 'User', description: 'A user of a device, or the device itself while its user is unknown' },
);
export type User = Static<typeof User>;

/** The part of a user that its device reports. Device states and events store it as JSON. */
export type UserProfile = Partial<
  Pick<
    User,
    | 'installId'
    | 'description'
    | 'metadata'
    | 'deviceType'
    | 'deviceMake'
    | 'deviceModel'
    | 'deviceOS'
    | 'sdkVersion'
    | 'locationAuthorization'
    | 'locationAccuracyAuthorization'
  >
>;

/** The types of events that locations cause. Conversions have names of their own. */
export const eventTypes = [
  'user.entered_geofence',
  'user.exited_geofence',
  'user.dwelled_in_geofence',
  'user.entered_beacon',
  'user.exited_beacon',
] as const;

/** Names of conversions, and the rule in words. */
export const conversionNamePattern = /^[\w.-]{1,100}$/;
/** What errors and the API description say about the name of a conversion. */
export const conversionNameRule = '1 to 100 letters, digits, _ . or -';

/** An event as the API, the SDKs and webhooks show it. */
export const Event = Type.Object(
  {
    _id: Id,
    type: Type.String({ description: `One of ${eventTypes.join(', ')}, or the name of a conversion` }),
    createdAt: Timestamp,
    actualCreatedAt: Timestamp,
    live: Type.Boolean(),
    user: Type.Optional(
      Type.Object({
        _id: Type.Optional(Id),
        userId: Type.Optional(Type.String()),
        deviceId: Type.Optional(Type.String()),
        installId: Type.Optional(Type.String()),
        metadata: Type.Optional(Metadata),
        locationAuthorization: Type.Optional(Type.String()),
        locationAccuracyAuthorization: Type.Optional(Type.String()),
      }),
    ),
    geofence: Type.Optional(GeofenceSummary),
    beacon: Type.Optional(Beacon),
    location: Type.Optional(DevicePoint),
    locationAccuracy: Type.Optional(Type.Number()),
    confidence: Type.Integer({ minimum: 1, maximum: 3 }),
    duration: Type.Optional(Type.Number({ description: 'Minutes since the entry' })),
    currentlyOperating: Type.Optional(Type.Boolean()),
    foreground: Type.Optional(Type.Boolean()),
    stopped: Type.Optional(Type.Boolean()),
    replayed: Type.Optional(Type.Boolean()),
    source: Type.Optional(Type.String()),
    metadata: Type.Optional(Metadata),
    metadataOmitted: Type.Optional(
      Type.Literal(true, {
        description:
          'The metadata of the user and of the geofence or beacon is left out, because the answer, or the location ' +
          'that caused the event, has much of it',
      }),
    ),
  },
  { $id: 'Event', description: 'An entry, exit, dwell or conversion of a user' },
);
export type Event = Static<typeof Event>;

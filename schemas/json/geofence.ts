/** JSON Schemas of geofences: the stored record and the API's representation. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Metadata, Point, Polygon, Position, Timestamp } from './common.js';
import { dayNames } from './constants.js';

export const GeofenceType = Type.Enum(['circle', 'polygon', 'isochrone']);
export type GeofenceType = Static<typeof GeofenceType>;

const TimeOfDay = Type.String({
  pattern: '^([01]\\d|2[0-4]):[0-5]\\d$',
  description: 'Local time as HH:mm; 24:00 only as a closing time',
});

/**
 * Days Mon to Sun with times as HH:mm. A day without pairs is closed. Without operating hours a fence is always open.
 */
export const OperatingHours = Type.Partial(
  Type.Record(Type.Enum([...dayNames]), Type.Array(Type.Tuple([TimeOfDay, TimeOfDay]))),
  { additionalProperties: false, description: '[opening, closing] pairs per day, in the local time of the geofence' },
);
export type OperatingHours = Static<typeof OperatingHours>;

export const minCircleRadiusM = 10;
export const maxCircleRadiusM = 10_000;

/**
 * A geofence as topic `changes` and the read model store it. Times are epoch milliseconds; `null` means not set.
 * `ring` is the closed ring of the polygon as it was uploaded, null for circles. `timeZone` is the centre's.
 */
export const GeofenceRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    tag: Type.String({ minLength: 1 }),
    externalId: Type.String({ minLength: 1 }),
    description: Type.String({ minLength: 1 }),
    type: GeofenceType,
    center: Position,
    radius: Type.Number({
      description: 'Circle: metres. Polygon: metres from the centre to the furthest vertex. Isochrone: minutes.',
    }),
    ring: Type.Union([Type.Array(Position), Type.Null()]),
    mode: Type.Union([Type.String(), Type.Null()]),
    enabled: Type.Boolean(),
    metadata: Type.Union([Metadata, Type.Null()]),
    operatingHours: Type.Union([OperatingHours, Type.Null()]),
    timeZone: Type.String({ description: 'IANA time zone' }),
    stopDetection: Type.Union([Type.Boolean(), Type.Null()]),
    dwellThreshold_min: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
    disableAfter: Type.Union([Type.Integer(), Type.Null()]),
    deleteAfter: Type.Union([Type.Integer(), Type.Null()]),
    userIds: Type.Union([Type.Array(Type.String()), Type.Null()]),
    ip: Type.Union([
      Type.String({ description: 'Comma-separated IP addresses, last-octet wildcards and CIDR ranges' }),
      Type.Null(),
    ]),
  },
  { additionalProperties: false },
);
export type GeofenceRecord = Static<typeof GeofenceRecord>;

/** A geofence as the API returns it. Fields that are not set are absent. */
export const Geofence = Type.Object(
  {
    _id: Id,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    live: Type.Boolean(),
    tag: Type.String(),
    externalId: Type.String(),
    description: Type.String(),
    type: GeofenceType,
    geometry: Type.Optional(Polygon),
    geometryCenter: Point,
    geometryRadius: Type.Number(),
    mode: Type.Optional(Type.String()),
    metadata: Type.Optional(Metadata),
    enabled: Type.Boolean(),
    operatingHours: Type.Optional(OperatingHours),
    stopDetection: Type.Optional(Type.Boolean()),
    dwellThreshold: Type.Optional(Type.Number()),
    disableAfter: Type.Optional(Timestamp),
    deleteAfter: Type.Optional(Timestamp),
    userId: Type.Optional(Type.String()),
    userIds: Type.Optional(Type.String()),
    ip: Type.Optional(Type.String()),
  },
  { $id: 'Geofence', description: 'A monitored area' },
);
export type Geofence = Static<typeof Geofence>;

/** A geofence as part of a user, an event or a context response. */
export const GeofenceSummary = Type.Object(
  {
    _id: Id,
    tag: Type.Optional(Type.String()),
    externalId: Type.Optional(Type.String()),
    description: Type.String(),
    type: GeofenceType,
    metadata: Type.Optional(Metadata),
    geometryCenter: Point,
    geometryRadius: Type.Number(),
  },
  { $id: 'GeofenceSummary' },
);
export type GeofenceSummary = Static<typeof GeofenceSummary>;

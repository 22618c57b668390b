/** JSON Schemas of geofences: the stored record and the API's representation. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Metadata, MetadataOmitted, Point, Polygon, Position, Timestamp } from './common.js';
import { dayNames } from './constants.js';

/** How the geometry of a geofence is given. */
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

/** Smallest radius of a circle. */
export const minCircleRadiusM = 10;
/** Largest radius of a circle. */
export const maxCircleRadiusM = 10_000;
/** Shortest travel time of an isochrone. */
export const minIsochroneMinutes = 1;
/** Longest travel time of an isochrone. */
export const maxIsochroneMinutes = 60;

/** What computed the ring of an isochrone, from what, and when. Times are epoch milliseconds. */
export const IsochroneSource = Type.Object(
  {
    provider: Type.String(),
    providerVersion: Type.Union([Type.String(), Type.Null()]),
    roadDataAt: Type.Union([Type.Integer({ description: 'Date of the road data' }), Type.Null()]),
    computedAt: Type.Integer(),
  },
  { additionalProperties: false },
);
export type IsochroneSource = Static<typeof IsochroneSource>;

/** The address that gave the centre. Times are epoch milliseconds. */
export const AddressSource = Type.Object(
  {
    query: Type.String({ description: 'As the owner wrote it' }),
    provider: Type.Union([Type.String(), Type.Null()], { description: 'null: the provider did not answer' }),
    formattedAddress: Type.Union([Type.String(), Type.Null()], { description: 'As the provider writes it' }),
    /** The position of the address, which differs from the centre where coordinates were given as well. */
    position: Type.Union([Position, Type.Null()]),
    resolvedAt: Type.Integer(),
    warning: Type.Union([Type.String(), Type.Null()]),
  },
  { additionalProperties: false },
);
export type AddressSource = Static<typeof AddressSource>;

/** The place whose geometry the geofence follows, and the geometry that was taken. */
export const PlaceSource = Type.Object(
  {
    id: Type.String({ description: 'The `_id` of the place' }),
    geometryHash: Type.Union([Type.String(), Type.Null()], { description: 'null: the catalogue had no such place' }),
    type: GeofenceType,
    radius: Type.Union([Type.Number(), Type.Null()], { description: 'As the owner gave it' }),
  },
  { additionalProperties: false },
);
export type PlaceSource = Static<typeof PlaceSource>;

/** Where a geometry came from, if the owner did not give it as coordinates. */
export const GeometrySource = Type.Object(
  {
    isochrone: Type.Optional(IsochroneSource),
    address: Type.Optional(AddressSource),
    place: Type.Optional(PlaceSource),
  },
  { additionalProperties: false },
);
export type GeometrySource = Static<typeof GeometrySource>;

/**
 * A geofence as topic `changes` and the read model store it. Times are epoch milliseconds; `null` means not set.
 * `ring` is the closed ring of the polygon as it was uploaded, or of the isochrone as it was computed; null for
 * circles. `center` of an isochrone is the destination. `timeZone` is the centre's. Records of earlier releases have no
 * `geometrySource`.
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
    geometrySource: Type.Optional(GeometrySource),
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

/** A geofence without its ring: decoding 2,000 vertices takes at least ten times as long as the rest. */
export type GeofenceHead = Omit<GeofenceRecord, 'ring'>;

/** Tests whether the geofence says `enabled`, and its `disableAfter` has not passed at the time (milliseconds). */
export const isEnabledAt = (
  { enabled, disableAfter }: Pick<GeofenceHead, 'enabled' | 'disableAfter'>,
  atMs: number,
): boolean => enabled && (disableAfter === null || atMs <= disableAfter);

/** What decides when and for whom a geofence makes events. */
export type MonitoredTimes = Pick<GeofenceHead, 'enabled' | 'disableAfter' | 'deleteAfter' | 'userIds'>;

/**
 * Tests whether the geofence makes events for a user at a time (milliseconds): it is enabled, its `deleteAfter` has not
 * passed, and its `userIds` name the user. null: a device without a user.
 */
export const isMonitoredFor = (geofence: MonitoredTimes, userId: string | null, atMs: number): boolean =>
  isEnabledAt(geofence, atMs) &&
  (geofence.deleteAfter === null || atMs <= geofence.deleteAfter) &&
  (geofence.userIds === null || (userId !== null && geofence.userIds.includes(userId)));

/** What computed an isochrone, as the API returns it. */
export const ShownIsochroneSource = Type.Object({
  provider: Type.String(),
  providerVersion: Type.Optional(Type.String()),
  roadDataAt: Type.Optional(Timestamp),
  computedAt: Timestamp,
});

/** {@link GeometrySource} as the API returns it. */
const ShownGeometrySource = Type.Object(
  {
    isochrone: Type.Optional(ShownIsochroneSource),
    address: Type.Optional(
      Type.Object({
        provider: Type.Optional(Type.String()),
        formattedAddress: Type.Optional(Type.String()),
        location: Type.Optional(Point),
        resolvedAt: Timestamp,
        warning: Type.Optional(Type.String({ description: 'Why the address was not compared with the coordinates' })),
      }),
    ),
    place: Type.Optional(
      Type.Object({
        warning: Type.String({ description: 'Why the geofence does not have the geometry of its place' }),
      }),
    ),
  },
  { description: 'Where the geometry came from, if not from coordinates' },
);

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
    address: Type.Optional(Type.String()),
    placeId: Type.Optional(Type.String()),
    geometrySource: Type.Optional(ShownGeometrySource),
    metadata: Type.Optional(Metadata),
    metadataOmitted: MetadataOmitted,
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
    metadataOmitted: MetadataOmitted,
    geometryCenter: Point,
    geometryRadius: Type.Number(),
  },
  { $id: 'GeofenceSummary' },
);
export type GeofenceSummary = Static<typeof GeofenceSummary>;

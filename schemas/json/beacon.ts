/** JSON Schemas of beacons: the stored record and the API's representation. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Metadata, MetadataOmitted, Point, Position, Timestamp } from './common.js';

/** The protocol of a beacon, which decides about its identifiers. */
export const BeaconType = Type.Enum(['ibeacon', 'eddystone']);
export type BeaconType = Static<typeof BeaconType>;

/**
 * A beacon as topic `changes` and the read model store it. Identifiers are in normal form: hex in lower case, decimals
 * without leading zeros. `group` is the uuid or uid, `minor` the minor or instance; `major` is empty for Eddystone.
 */
export const BeaconRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    tag: Type.Union([Type.String(), Type.Null()]),
    externalId: Type.Union([Type.String(), Type.Null()]),
    description: Type.String({ minLength: 1 }),
    type: BeaconType,
    group: Type.String(),
    major: Type.String(),
    minor: Type.String(),
    coordinates: Position,
    enabled: Type.Boolean(),
    metadata: Type.Union([Metadata, Type.Null()]),
  },
  { additionalProperties: false },
);
export type BeaconRecord = Static<typeof BeaconRecord>;

/** A beacon as the API returns it. `uuid`, `major` and `minor` are strings because the iOS SDK requires strings. */
export const Beacon = Type.Object(
  {
    _id: Id,
    createdAt: Type.Optional(Timestamp),
    updatedAt: Type.Optional(Timestamp),
    live: Type.Optional(Type.Boolean()),
    tag: Type.Optional(Type.String()),
    externalId: Type.Optional(Type.String()),
    description: Type.String(),
    type: BeaconType,
    uuid: Type.Optional(Type.String()),
    major: Type.Optional(Type.String()),
    minor: Type.Optional(Type.String()),
    uid: Type.Optional(Type.String()),
    instance: Type.Optional(Type.String()),
    geometry: Type.Optional(Point),
    enabled: Type.Optional(Type.Boolean()),
    metadata: Type.Optional(Metadata),
    metadataOmitted: MetadataOmitted,
  },
  { $id: 'Beacon', description: 'A Bluetooth transmitter that marks a place' },
);
export type Beacon = Static<typeof Beacon>;

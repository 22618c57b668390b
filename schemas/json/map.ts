/** JSON Schemas of uploads for static maps: styles and marker images, as stored records and as the API returns them. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/**
 * Limit of a style as compact JSON. A record is one message of topic `changes`, and Kafka brokers accept 1,048,576
 * bytes by default. The difference is for the other fields.
 */
export const maxStyleBytes = 900_000;
/** Most layers of an uploaded style. */
export const maxStyleLayers = 500;
/** Limit on the nesting of lists and dictionaries in a style. */
export const maxStyleDepth = 100;
/** Largest image of a marker: 256 KiB. */
export const maxMarkerBytes = 262_144;

/** The type of an uploaded image. */
export const MarkerType = Type.Enum(['image/png', 'image/svg+xml']);
export type MarkerType = Static<typeof MarkerType>;

const identity = {
  _id: Id,
  project: Id,
  environment: Environment,
  createdAt: Type.Integer(),
  updatedAt: Type.Integer(),
  name: Type.Union([Type.String(), Type.Null()]),
};

/** A style as topic `changes` stores it. Times are epoch ms; `null` means not set. */
export const MapStyleRecord = Type.Object(
  { ...identity, style: Type.Record(Type.String(), Type.Unknown(), { description: 'MapLibre style, version 8' }) },
  { additionalProperties: false },
);
export type MapStyleRecord = Static<typeof MapStyleRecord>;

/** A marker image as topic `changes` stores it. */
export const MapMarkerRecord = Type.Object(
  { ...identity, type: MarkerType, image: Type.String({ description: 'The uploaded file in base64' }) },
  { additionalProperties: false },
);
export type MapMarkerRecord = Static<typeof MapMarkerRecord>;

const commonFields = {
  _id: Id,
  live: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  name: Type.Optional(Type.String()),
  bytes: Type.Integer({ description: 'Size of the file in bytes' }),
};

/** A style as the API returns it. Fields that are not set are absent. */
export const MapStyle = Type.Object(commonFields, {
  $id: 'MapStyle',
  description: 'A MapLibre style for static maps',
});
export type MapStyle = Static<typeof MapStyle>;

/** A marker as the API returns it. */
export const MapMarker = Type.Object(
  { ...commonFields, type: MarkerType },
  { $id: 'MapMarker', description: 'A marker image for static maps' },
);
export type MapMarker = Static<typeof MapMarker>;

/** A property or layer of a style that the renderer does not support. */
export const Unsupported = Type.Object({
  layer: Type.Union([Type.String(), Type.Null()], { description: 'Id of the layer; null: the whole style' }),
  property: Type.Union([Type.String(), Type.Null()], { description: 'Name of the property; null: the whole layer' }),
  message: Type.String(),
});

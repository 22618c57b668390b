/** What owners upload for static maps: styles and marker images, as they are kept and as they are answered. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/**
 * Of a style as compact JSON. A record travels in one message of topic `changes`, and Kafka's brokers take no more than
 * 1,048,576 bytes unless told otherwise; the rest is room for what stands around it.
 */
export const maxStyleBytes = 900_000;
export const maxStyleLayers = 500;
/** How far lists and dictionaries of a style may nest. */
export const maxStyleDepth = 100;
export const maxMarkerBytes = 262_144;

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

/** A style as the `changes` topic keeps it. Times are epoch ms; `null` means not set. */
export const MapStyleRecord = Type.Object(
  { ...identity, style: Type.Record(Type.String(), Type.Unknown(), { description: 'MapLibre style, version 8' }) },
  { additionalProperties: false },
);
export type MapStyleRecord = Static<typeof MapStyleRecord>;

/** A marker's image as the `changes` topic keeps it. */
export const MapMarkerRecord = Type.Object(
  { ...identity, type: MarkerType, image: Type.String({ description: 'The file as it came, in base64' }) },
  { additionalProperties: false },
);
export type MapMarkerRecord = Static<typeof MapMarkerRecord>;

const answered = {
  _id: Id,
  live: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  name: Type.Optional(Type.String()),
  bytes: Type.Integer({ description: 'Of the file' }),
};

/** A style as the API answers it. Fields that are not set are absent. */
export const MapStyle = Type.Object(answered, {
  $id: 'MapStyle',
  description: 'A style that static maps can be drawn in',
});
export type MapStyle = Static<typeof MapStyle>;

/** A marker as the API answers it. */
export const MapMarker = Type.Object(
  { ...answered, type: MarkerType },
  { $id: 'MapMarker', description: 'An image that static maps can have for a marker' },
);
export type MapMarker = Static<typeof MapMarker>;

/** Something that a style asks for and that is not drawn. */
export const Unsupported = Type.Object({
  layer: Type.Union([Type.String(), Type.Null()], { description: "The layer's id; null: of the whole style" }),
  property: Type.Union([Type.String(), Type.Null()], { description: 'Null: the whole layer' }),
  message: Type.String(),
});

/**
 * JSON Schemas that the resources share: identifiers, times, coordinates, metadata, and the envelope of every response.
 */
import Type, { type Static } from 'typebox';

/** 24 hex digits. */
export const Id = Type.String({ pattern: '^[0-9a-f]{24}$', description: '24 hex digits' });

/** ISO 8601 in UTC with milliseconds, which the SDKs require: 2018-06-12T13:44:10.535Z. */
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601 in UTC, with milliseconds' });

/** The half of a project that a key belongs to. */
export const Environment = Type.Enum(['test', 'live'], { description: 'Test and live data are separate' });
export type Environment = Static<typeof Environment>;

/** A longitude on WGS84. */
export const Longitude = Type.Number({ minimum: -180, maximum: 180, description: 'Degrees' });
/** A latitude on WGS84. */
export const Latitude = Type.Number({ minimum: -90, maximum: 90, description: 'Degrees' });

/** [longitude, latitude] in degrees. */
export const Position = Type.Tuple([Longitude, Latitude], { description: '[longitude, latitude] in degrees' });
export type Position = Static<typeof Position>;

/** A GeoJSON point (RFC 7946). */
export const Point = Type.Object(
  { type: Type.Literal('Point'), coordinates: Position },
  { description: 'GeoJSON point' },
);
/** A GeoJSON polygon (RFC 7946) without holes. */
export const Polygon = Type.Object(
  { type: Type.Literal('Polygon'), coordinates: Type.Array(Type.Array(Position), { minItems: 1, maxItems: 1 }) },
  { description: 'GeoJSON polygon with one closed ring' },
);

/** A flat dictionary of strings, booleans and finite numbers. Each use limits the number of keys. */
export const Metadata = Type.Record(Type.String(), Type.Union([Type.String(), Type.Boolean(), Type.Number()]), {
  description: 'Flat dictionary of strings, booleans and numbers',
});
export type Metadata = Static<typeof Metadata>;
/** A value of metadata. */
export type MetadataValue = Metadata[string];

/** The field that replaces metadata in an answer with much of it. */
export const MetadataOmitted = Type.Optional(
  Type.Literal(true, { description: 'The metadata is left out, because the answer has much of it' }),
);

/** Most keys in the metadata of a geofence or a beacon. */
export const maxMetadataKeys = 16;
/** Most keys in the metadata of a user. */
export const maxUserMetadataKeys = 32;

/** The `meta` of a successful answer. */
export const Meta = Type.Object({
  code: Type.Integer(),
  hasMore: Type.Optional(Type.Boolean()),
});

/** The body of every error response. */
export const ErrorBody = Type.Object({
  meta: Type.Object({
    code: Type.Integer({ description: 'HTTP status' }),
    type: Type.String({ description: 'Stable error code, listed in docs/errors.md' }),
    param: Type.Optional(Type.String({ description: 'The invalid field' })),
    message: Type.String(),
    requestId: Type.String({ description: 'As in the header X-Radar-Request-Id, and in the log' }),
  }),
});

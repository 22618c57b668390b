/** What a geofence's owner may send, for the API's description; geofences/input.ts decides. */
import Type from 'typebox';
import { maxNameLength } from '../../http/fields/reader.js';
import { Metadata, Position } from '../../schemas/json/common.js';
import { maxCircleRadiusM, maxRingPoints, minCircleRadiusM, minRingPoints } from '../../schemas/json/geofence.js';
import { travelModes } from './input.js';

const time = 'A date, an ISO 8601 date and time, or a form such as "Jan 1, 2029"; UTC unless it names a zone';
const jsonText = Type.String({ description: 'The same as JSON text' });

/** The fields of an update whose path names the geofence. */
export const GeofenceFields = Type.Object({
  description: Type.String({ minLength: 1 }),
  type: Type.Enum(['circle', 'polygon'], { description: 'In any case; isochrone is not available yet' }),
  coordinates: Type.Union(
    [Position, Type.Array(Position, { minItems: minRingPoints, maxItems: maxRingPoints }), jsonText],
    {
      description: 'Circle: the centre. Polygon: a closed ring',
    },
  ),
  radius: Type.Optional(
    Type.Number({ minimum: minCircleRadiusM, maximum: maxCircleRadiusM, description: 'Metres; required for a circle' }),
  ),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  metadata: Type.Optional(
    Type.Union([Metadata, jsonText], { description: 'At most 16 keys; or by key, as metadata.key or metadata[key]' }),
  ),
  operatingHours: Type.Optional(
    Type.Union([Type.Record(Type.String(), Type.Array(Type.Tuple([Type.String(), Type.String()]))), jsonText], {
      description:
        'By day, full or three letters: lists of [opening, closing], as 9:30 AM or 09:30; or operatingHours.day',
    }),
  ),
  stopDetection: Type.Optional(Type.Boolean({ description: "Overrides the project's setting" })),
  dwellThreshold: Type.Optional(Type.Number({ minimum: 0, description: 'Minutes' })),
  disableAfter: Type.Optional(Type.String({ description: time })),
  deleteAfter: Type.Optional(Type.String({ description: time })),
  userIds: Type.Optional(Type.String({ description: 'Comma-separated; events for these users only' })),
  userId: Type.Optional(Type.String({ description: 'Deprecated: one more of userIds' })),
  ip: Type.Optional(Type.String({ description: 'Comma-separated addresses, last-octet wildcards and CIDR ranges' })),
  mode: Type.Optional(Type.Enum([...travelModes])),
});

const name = Type.String({ minLength: 1, maxLength: maxNameLength });

/** The fields of a creation. */
export const NewGeofenceFields = Type.Object({ tag: name, externalId: name, ...GeofenceFields.properties });

/** The JSON Schemas of the SDK calls that are not locations. */
import Type, { type TSchema } from 'typebox';
import { maxIdCharacters } from '../../http/location/request.js';
import { Beacon } from '../../schemas/json/beacon.js';
import { Latitude, Longitude, Meta } from '../../schemas/json/common.js';
import { Geofence, GeofenceSummary } from '../../schemas/json/geofence.js';
import { Event } from '../../schemas/json/user.js';

/** Values that the pipeline returns in wire form. */
const Ready = (schema: TSchema) => Type.Unsafe<object>(schema);

/** An answer without content. */
export const Done = Type.Object({ meta: Meta });

const Coordinates = Type.String({ description: 'latitude,longitude in degrees' });

/** Parameters of GET /v1/context. */
export const ContextQuery = Type.Object({
  coordinates: Coordinates,
  accuracy: Type.Optional(Type.Number({ minimum: 0, description: 'Metres' })),
  userId: Type.Optional(Type.String()),
});

/** Answer of GET /v1/context. Mobile SDKs read `context`, the web SDK reads the same fields beside it. */
export const ContextAnswer = Type.Object({
  meta: Meta,
  context: Type.Object({ live: Type.Boolean(), geofences: Type.Array(Ready(GeofenceSummary)) }),
  live: Type.Boolean(),
  geofences: Type.Array(Ready(GeofenceSummary)),
});

/** Parameters of GET /v1/search/geofences. */
export const GeofenceSearchQuery = Type.Object({
  near: Coordinates,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  radius: Type.Optional(Type.Number({ minimum: 1, description: 'Metres; absent: any distance' })),
  tags: Type.Optional(Type.String({ description: 'Comma-separated; any of them' })),
  metadata: Type.Optional(Type.Unknown({ description: 'metadata[key]=value; all must match' })),
  includeGeometry: Type.Optional(
    Type.Boolean({ default: true, description: 'Must be false for more than 100 results' }),
  ),
  includeGeometries: Type.Optional(Type.Boolean({ description: 'The same as includeGeometry' })),
});

/** Answer of GET /v1/search/geofences, nearest first. */
export const GeofenceSearchAnswer = Type.Object({ meta: Meta, geofences: Type.Array(Ready(Geofence)) });

/** Parameters of GET /v1/search/beacons. */
export const BeaconSearchQuery = Type.Object({
  near: Coordinates,
  radius: Type.Optional(Type.Number({ minimum: 1, maximum: 10_000, default: 1_000, description: 'Metres' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, default: 10, description: 'At most 100 are answered' })),
});

/** Answer of GET /v1/search/beacons, nearest first, with the groups that SDKs range. */
export const BeaconSearchAnswer = Type.Object({
  meta: Type.Object({
    code: Type.Integer(),
    settings: Type.Object({
      beacons: Type.Object({ uuids: Type.Array(Type.String()), uids: Type.Array(Type.String()) }),
    }),
  }),
  beacons: Type.Array(Ready(Beacon)),
});

/** Body of POST /v1/sync/region. */
export const RegionRequest = Type.Object({
  latitude: Latitude,
  longitude: Longitude,
  userId: Type.Optional(
    Type.String({ maxLength: maxIdCharacters, description: 'Includes the geofences for this user alone' }),
  ),
});

/** Answer of POST /v1/sync/region: what lies in a circle about the point. `places` is always empty. */
export const RegionAnswer = Type.Object({
  meta: Meta,
  geofences: Type.Array(Ready(Geofence)),
  beacons: Type.Array(Ready(Beacon)),
  places: Type.Array(Type.Unknown()),
  region: Type.Object({ latitude: Latitude, longitude: Longitude, radius: Type.Number({ description: 'Metres' }) }),
});

/** Body of POST /v1/events. */
export const ConversionRequest = Type.Object({
  name: Type.Optional(Type.String({ description: 'Letters, digits, _ . -; or `type`' })),
  type: Type.Optional(Type.String()),
  userId: Type.Optional(Type.String({ maxLength: maxIdCharacters })),
  deviceId: Type.Optional(Type.String({ maxLength: maxIdCharacters })),
  installId: Type.Optional(Type.String({ maxLength: maxIdCharacters })),
  createdAt: Type.Optional(Type.String({ description: 'ISO 8601; default now' })),
  revenue: Type.Optional(Type.Number()),
  duration: Type.Optional(Type.Number({ minimum: 0, description: 'Minutes' })),
  metadata: Type.Optional(Type.Unknown({ description: 'Flat dictionary, or its JSON text' })),
});

/** Answer of POST /v1/events. */
export const ConversionAnswer = Type.Object({ meta: Meta, event: Event });

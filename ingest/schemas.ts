/**
 * The JSON Schemas of what ingest reads and answers, for its description. Bodies are checked by the readers beside
 * them, which forgive more.
 */
import Type, { type TSchema } from 'typebox';
import { maxAgeMs } from '../http/location/occurred-at.js';
import { maxIdCharacters } from '../http/location/request.js';
import { Beacon } from '../schemas/json/beacon.js';
import { Latitude, Longitude, Meta, Metadata } from '../schemas/json/common.js';
import { Geofence, GeofenceSummary } from '../schemas/json/geofence.js';
import { Event, User } from '../schemas/json/user.js';

const DeviceId = Type.String({ minLength: 1, maxLength: maxIdCharacters });

const RangedBeaconRequest = Type.Object({
  type: Type.Enum(['ibeacon', 'eddystone']),
  uuid: Type.Optional(Type.String()),
  major: Type.Optional(Type.String()),
  minor: Type.Optional(Type.String()),
  uid: Type.Optional(Type.String()),
  instance: Type.Optional(Type.String()),
  rssi: Type.Optional(Type.Integer({ description: 'dBm' })),
});

export const TrackRequest = Type.Object(
  {
    deviceId: DeviceId,
    userId: Type.Optional(Type.String({ maxLength: maxIdCharacters })),
    latitude: Latitude,
    longitude: Longitude,
    accuracy: Type.Number({
      minimum: 0,
      maximum: 100_000,
      description: 'Metres. Web clients may leave it out with coordinates of their own',
    }),
    foreground: Type.Optional(Type.Boolean({ default: false })),
    stopped: Type.Optional(Type.Boolean({ default: false })),
    replayed: Type.Optional(Type.Boolean({ default: false })),
    beacons: Type.Optional(
      Type.Array(RangedBeaconRequest, {
        description: 'Exactly these are in range; absent: nothing is said of beacons',
      }),
    ),
    updatedAtMsDiff: Type.Optional(
      Type.Number({ minimum: 0, maximum: maxAgeMs, description: 'Milliseconds since the fix, at most 7 days' }),
    ),
    updatedAtMs: Type.Optional(Type.Number({ description: 'Epoch milliseconds of the fix' })),
    updatedAt: Type.Optional(Type.String({ format: 'date-time', description: 'ISO 8601 time of the fix' })),
    description: Type.Optional(Type.String()),
    metadata: Type.Optional(Metadata),
    installId: Type.Optional(Type.String()),
    sessionId: Type.Optional(Type.String()),
    source: Type.Optional(Type.String()),
    deviceType: Type.Optional(Type.String()),
    deviceMake: Type.Optional(Type.String()),
    deviceModel: Type.Optional(Type.String()),
    deviceOS: Type.Optional(Type.String()),
    sdkVersion: Type.Optional(Type.String()),
    locationAuthorization: Type.Optional(Type.String()),
    locationAccuracyAuthorization: Type.Optional(Type.String()),
    altitude: Type.Optional(Type.Number({ description: 'Metres' })),
    speed: Type.Optional(Type.Number({ description: 'Metres per second' })),
    course: Type.Optional(Type.Number({ description: 'Degrees' })),
    timeZoneOffset: Type.Optional(Type.Number({ description: 'Seconds' })),
    locationMs: Type.Optional(Type.Number({ description: 'Kept as sent, never trusted as a date' })),
    nearbyGeofences: Type.Optional(Type.Boolean({ description: 'Answer the nearest geofences too' })),
  },
  { description: 'A location of a device. Unknown keys are ignored, null counts as absent' },
);

export const ReplayRequest = Type.Object({ replays: Type.Array(TrackRequest, { minItems: 1, maxItems: 1_000 }) });

const Rejections = (position: string) =>
  Type.Array(Type.Object({ [position]: Type.Integer(), param: Type.String(), message: Type.String() }), {
    description: 'What was not taken and why; the first hundred',
  });

export const TrackAnswer = Type.Object(
  {
    meta: Type.Object({
      code: Type.Integer(),
      pending: Type.Optional(
        Type.Boolean({
          description:
            'True: the location is durable, but what it did was not known in time; the user is as last known',
        }),
      ),
      notEntered: Type.Optional(
        Type.Integer({
          description:
            'Geofences and beacons that were not entered, because the user is inside of as many as a user can be',
        }),
      ),
    }),
    events: Type.Array(Event),
    user: User,
    nearbyGeofences: Type.Optional(Type.Array(Geofence)),
    rejections: Type.Optional(Rejections('index')),
  },
  {
    description:
      'With a publishable key, `user` and the user of each event hold what this request said, `_id`, `createdAt`, `geofences` and `beacons`; with a secret key, all that is known',
  },
);

export const BulkAnswer = Type.Object({
  meta: Meta,
  accepted: Type.Integer({ description: 'Durable locations' }),
  rejected: Type.Integer(),
  rejections: Rejections('line'),
});

/** Things that come from the pipeline in wire form already. */
const Ready = (schema: TSchema) => Type.Unsafe<object>(schema);

export const Done = Type.Object({ meta: Meta });

const Coordinates = Type.String({ description: 'latitude,longitude in degrees' });

export const ContextQuery = Type.Object({
  coordinates: Coordinates,
  accuracy: Type.Optional(Type.Number({ minimum: 0, description: 'Metres' })),
  userId: Type.Optional(Type.String()),
});

export const ContextAnswer = Type.Object({
  meta: Meta,
  context: Type.Object({ live: Type.Boolean(), geofences: Type.Array(Ready(GeofenceSummary)) }),
  live: Type.Boolean(),
  geofences: Type.Array(Ready(GeofenceSummary)),
});

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

export const GeofenceSearchAnswer = Type.Object({ meta: Meta, geofences: Type.Array(Ready(Geofence)) });

export const BeaconSearchQuery = Type.Object({
  near: Coordinates,
  radius: Type.Optional(Type.Number({ minimum: 1, maximum: 10_000, default: 1_000, description: 'Metres' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, default: 10, description: 'At most 100 are answered' })),
});

export const BeaconSearchAnswer = Type.Object({
  meta: Type.Object({
    code: Type.Integer(),
    settings: Type.Object({
      beacons: Type.Object({ uuids: Type.Array(Type.String()), uids: Type.Array(Type.String()) }),
    }),
  }),
  beacons: Type.Array(Ready(Beacon)),
});

export const RegionRequest = Type.Object({
  latitude: Latitude,
  longitude: Longitude,
  userId: Type.Optional(Type.String()),
});

export const RegionAnswer = Type.Object({
  meta: Meta,
  geofences: Type.Array(Ready(Geofence)),
  beacons: Type.Array(Ready(Beacon)),
  places: Type.Array(Type.Unknown()),
  region: Type.Object({ latitude: Latitude, longitude: Longitude, radius: Type.Number({ description: 'Metres' }) }),
});

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

export const ConversionAnswer = Type.Object({ meta: Meta, event: Event });

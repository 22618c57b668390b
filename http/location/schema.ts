/** The JSON Schema of a location, for the API's description. The reader in request.ts decides, and accepts more. */
import Type from 'typebox';
import { Latitude, Longitude, Metadata } from '../../schemas/json/common.js';
import { maxAgeMs, maxAheadMs } from './occurred-at.js';
import { maxAccuracyM, maxIdCharacters } from './request.js';

const RangedBeaconRequest = Type.Object({
  type: Type.Enum(['ibeacon', 'eddystone']),
  uuid: Type.Optional(Type.String()),
  major: Type.Optional(Type.String()),
  minor: Type.Optional(Type.String()),
  uid: Type.Optional(Type.String()),
  instance: Type.Optional(Type.String()),
  rssi: Type.Optional(Type.Integer({ description: 'dBm' })),
});

/** Body of POST /v1/track, and each location of a replay or a bulk upload. */
export const TrackRequest = Type.Object(
  {
    deviceId: Type.String({ minLength: 1, maxLength: maxIdCharacters }),
    userId: Type.Optional(Type.String({ maxLength: maxIdCharacters })),
    latitude: Latitude,
    longitude: Longitude,
    accuracy: Type.Number({
      minimum: 0,
      maximum: maxAccuracyM,
      description: 'Metres. Web clients may leave it out when they pass their own coordinates',
    }),
    foreground: Type.Optional(Type.Boolean({ default: false })),
    stopped: Type.Optional(Type.Boolean({ default: false })),
    replayed: Type.Optional(Type.Boolean({ default: false })),
    beacons: Type.Optional(
      Type.Array(RangedBeaconRequest, {
        description: 'Exactly these are in range; absent: the request does not report beacons',
      }),
    ),
    updatedAtMsDiff: Type.Optional(
      Type.Number({
        description:
          `Milliseconds since the fix, from -${maxAheadMs} to ${maxAgeMs} (7 days). ` +
          'Another number gives way to an `updatedAtMs` in this range, and is refused without one',
      }),
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
    locationMs: Type.Optional(
      Type.Number({
        description:
          "Time of the fix by the device's clock, never a date. 0: it has none, and `updatedAtMsDiff` is ignored",
      }),
    ),
    nearbyGeofences: Type.Optional(
      Type.Boolean({ description: 'Include the nearest geofences for this user in the answer' }),
    ),
    nearbyGeofencesLimit: Type.Optional(
      Type.Number({ minimum: 0, description: 'How many, of 10; of a replay, the last item has it' }),
    ),
  },
  { description: 'A location of a device. Unknown keys are ignored, null counts as absent' },
);

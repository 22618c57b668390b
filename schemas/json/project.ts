/** Projects, their keys and their settings. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/** What a project decides about event generation, per environment. */
export const Settings = Type.Object(
  {
    stopDetection: Type.Boolean({
      description: 'Entries only when the user stops or is in the foreground',
      default: false,
    }),
    bufferEntries: Type.Boolean({ description: 'Enter within the reported accuracy of the boundary', default: false }),
    bufferExits: Type.Boolean({
      description: 'Exit only beyond the reported accuracy of the boundary',
      default: false,
    }),
    restrictToOperatingHours: Type.Boolean({
      description: 'No geofence events outside operating hours',
      default: false,
    }),
    dwellEvents: Type.Boolean({ description: 'Generate user.dwelled_in_geofence', default: false }),
    defaultDwellThreshold: Type.Union([Type.Number({ minimum: 0, maximum: 525_600 }), Type.Null()], {
      description: 'Minutes, for geofences without a threshold of their own',
      default: null,
    }),
    minimumConfidence: Type.Integer({
      minimum: 1,
      maximum: 3,
      description: 'Least confidence of a transition',
      default: 1,
    }),
    beaconUuids: Type.Array(Type.String({ pattern: '^[0-9a-fA-F-]{32,36}$' }), {
      maxItems: 100,
      description: 'iBeacon UUIDs that SDKs range regardless of where the beacons are',
      default: [],
    }),
    beaconUids: Type.Array(Type.String({ pattern: '^[0-9a-fA-F]{20}$' }), {
      maxItems: 100,
      description: 'Eddystone UIDs, likewise',
      default: [],
    }),
  },
  { additionalProperties: false, $id: 'Settings' },
);
export type Settings = Static<typeof Settings>;

export const defaultSettings: Settings = {
  stopDetection: false,
  bufferEntries: false,
  bufferExits: false,
  restrictToOperatingHours: false,
  dwellEvents: false,
  defaultDwellThreshold: null,
  minimumConfidence: 1,
  beaconUuids: [],
  beaconUids: [],
};

export const KeyKind = Type.Enum(['publishable', 'secret']);
export type KeyKind = Static<typeof KeyKind>;

/** A key as it is kept: never the key itself, only its SHA-256. */
export const KeyRecord = Type.Object({
  environment: Environment,
  kind: KeyKind,
  sha256: Type.String({ description: '64 hex digits' }),
  hint: Type.String({ description: 'Prefix and last four characters, to tell keys apart' }),
  createdAt: Type.Integer(),
});
export type KeyRecord = Static<typeof KeyRecord>;

/** A project as the `changes` topic and the view keep it. */
export const ProjectRecord = Type.Object(
  {
    _id: Id,
    name: Type.String({ minLength: 1, maxLength: 200 }),
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    keys: Type.Array(KeyRecord),
    settings: Type.Object({ test: Settings, live: Settings }),
  },
  { additionalProperties: false },
);
export type ProjectRecord = Static<typeof ProjectRecord>;

/** A project as an administrator sees it. */
export const Project = Type.Object(
  {
    _id: Id,
    name: Type.String(),
    createdAt: Timestamp,
    keys: Type.Array(
      Type.Object({
        environment: Environment,
        kind: KeyKind,
        hint: Type.String(),
        createdAt: Timestamp,
        key: Type.Optional(Type.String({ description: 'The key itself, answered once when it is made' })),
      }),
    ),
  },
  { $id: 'Project' },
);
export type Project = Static<typeof Project>;

/** JSON Schemas of projects, their API keys and their settings. */
import Type, { type Static } from 'typebox';
import { InvitationRecord, MemberRecord } from './account.js';
import { Environment, Id, Timestamp } from './common.js';

/** Settings of event generation, per project and environment. */
export const Settings = Type.Object(
  {
    stopDetection: Type.Boolean({
      description: 'Generate entries only while the device is stopped or the app is in the foreground',
      default: false,
    }),
    bufferEntries: Type.Boolean({
      description: 'Generate entries as soon as the boundary is within the reported accuracy',
      default: false,
    }),
    bufferExits: Type.Boolean({
      description: 'Generate exits only when the boundary is further away than the reported accuracy',
      default: false,
    }),
    restrictToOperatingHours: Type.Boolean({
      description: 'Generate no geofence events outside operating hours',
      default: false,
    }),
    dwellEvents: Type.Boolean({ description: 'Generate user.dwelled_in_geofence events', default: false }),
    defaultDwellThreshold: Type.Union([Type.Number({ minimum: 0, maximum: 525_600 }), Type.Null()], {
      description: 'Dwell threshold in minutes for geofences that set none; null: none',
      default: null,
    }),
    minimumConfidence: Type.Integer({
      minimum: 1,
      maximum: 3,
      description: 'Minimum confidence of an event: 1 low, 2 medium, 3 high',
      default: 1,
    }),
    beaconUuids: Type.Array(Type.String({ pattern: '^[0-9a-fA-F-]{32,36}$' }), {
      maxItems: 100,
      description: 'iBeacon UUIDs that SDKs range everywhere',
      default: [],
    }),
    beaconUids: Type.Array(Type.String({ pattern: '^[0-9a-fA-F]{20}$' }), {
      maxItems: 100,
      description: 'Eddystone UIDs that SDKs range everywhere',
      default: [],
    }),
    allowedOrigins: Type.Optional(
      Type.Array(Type.String({ maxLength: 255 }), {
        maxItems: 100,
        description:
          'Origins of web pages that may use publishable keys, such as https://example.com. Absent: all. Calls without ' +
          'Origin and Referer, as of native SDKs, pass',
      }),
    ),
  },
  { additionalProperties: false, $id: 'Settings' },
);
export type Settings = Static<typeof Settings>;

/** The settings of a new project. */
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

/**
 * Publishable keys are in apps and may send locations; secret keys are on servers and may do everything in their
 * environment.
 */
export const KeyKind = Type.Enum(['publishable', 'secret']);
export type KeyKind = Static<typeof KeyKind>;

/** A stored API key: its SHA-256, never the key itself. */
export const KeyRecord = Type.Object({
  environment: Environment,
  kind: KeyKind,
  sha256: Type.String({ description: '64 hex digits' }),
  hint: Type.String({ description: 'Prefix and last four characters, to distinguish keys' }),
  createdAt: Type.Integer(),
});
export type KeyRecord = Static<typeof KeyRecord>;

/** What a project may use where the operator enables plans. */
const Plan = Type.Enum(['basic', 'enterprise']);

/** A project as topic `changes` and the read model store it. */
export const ProjectRecord = Type.Object(
  {
    _id: Id,
    name: Type.String({ minLength: 1, maxLength: 200 }),
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    keys: Type.Array(KeyRecord),
    settings: Type.Object({ test: Settings, live: Settings }),
    members: Type.Optional(Type.Array(MemberRecord)),
    invitations: Type.Optional(Type.Array(InvitationRecord)),
    plan: Type.Optional(Plan),
  },
  { additionalProperties: false },
);
export type ProjectRecord = Static<typeof ProjectRecord>;

/** A project as the admin API returns it. */
export const Project = Type.Object(
  {
    _id: Id,
    name: Type.String(),
    createdAt: Timestamp,
    plan: Type.Optional(Plan),
    keys: Type.Array(
      Type.Object({
        environment: Environment,
        kind: KeyKind,
        hint: Type.String(),
        createdAt: Timestamp,
        key: Type.Optional(Type.String({ description: 'The key itself, returned only when it is created' })),
      }),
    ),
  },
  { $id: 'Project' },
);
export type Project = Static<typeof Project>;

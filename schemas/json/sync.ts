/** JSON Schemas of the nightly sync: the stored record with the state of its runs, and the API's representation. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/** Where the files of a sync are. */
export const SyncProtocol = Type.Enum(['http', 's3'], {
  description: 'http: URLs of files. s3: objects of a bucket, on Amazon S3 or a compatible service',
});
export type SyncProtocol = Static<typeof SyncProtocol>;

/** Most files of a sync. */
export const maxSyncFiles = 20;

/** saved: the configuration was saved. requested: by POST /v1/sync/run. nightly: the time of the night. */
export const SyncReason = Type.Enum(['saved', 'requested', 'nightly']);
export type SyncReason = Static<typeof SyncReason>;

/**
 * running: files are read or imported. succeeded: every file was imported or is unchanged, and every row was applied.
 * failed: see `message` and `files`. interrupted: the process ended too often, or the sync was switched off.
 */
const SyncResult = Type.Enum(['running', 'succeeded', 'failed', 'interrupted']);

/**
 * imported: every row was applied. rejected_rows: some rows break a rule, the others were applied. unchanged: the file
 * is the one that was imported last. failed: see `message`. skipped: another file failed, so nothing was imported.
 */
const SyncFileResult = Type.Enum(['imported', 'rejected_rows', 'unchanged', 'failed', 'skipped']);

const counts = {
  rows: Type.Integer(),
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  rejected: Type.Integer(),
};

/** The result of a file in a run. `null`: not set. */
export const SyncFileRecord = Type.Object(
  {
    name: Type.String(),
    result: SyncFileResult,
    message: Type.Union([Type.String(), Type.Null()]),
    bytes: Type.Union([Type.Integer(), Type.Null()]),
    import: Type.Union([Id, Type.Null()]),
    counts: Type.Union([Type.Object(counts, { additionalProperties: false }), Type.Null()]),
  },
  { additionalProperties: false },
);
export type SyncFileRecord = Static<typeof SyncFileRecord>;

/** How an earlier run saw a file whose rows were all applied. */
export const SyncSeenFile = Type.Object(
  {
    name: Type.String(),
    etag: Type.Union([Type.String(), Type.Null()]),
    lastModified: Type.Union([Type.String(), Type.Null()]),
    sha256: Type.String(),
  },
  { additionalProperties: false },
);
export type SyncSeenFile = Static<typeof SyncSeenFile>;

/** A run of a sync as its record holds it. Times are epoch ms; `finishedAt` is null while it runs. */
export const SyncRunRecord = Type.Object(
  {
    _id: Id,
    reason: SyncReason,
    attempt: Type.Integer({ description: 'From 1; a run that was interrupted is repeated' }),
    startedAt: Type.Integer(),
    finishedAt: Type.Union([Type.Integer(), Type.Null()]),
    result: SyncResult,
    message: Type.Union([Type.String(), Type.Null()]),
    files: Type.Array(SyncFileRecord),
    /** Why the mail about the run was not sent; null: it was sent, or the owner wants none. */
    mailProblem: Type.Union([Type.String(), Type.Null()]),
  },
  { additionalProperties: false },
);
export type SyncRunRecord = Static<typeof SyncRunRecord>;

/**
 * The sync of an environment as topic `changes` stores it. Times are epoch ms; `null` means not set.
 *
 * A run is due when `requested` is after the start of the last run, or a night has passed since. So it depends only on
 * what is stored, and any node may start it.
 */
export const SyncRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    enabled: Type.Boolean(),
    notificationEmail: Type.Union([Type.String(), Type.Null()]),
    protocol: SyncProtocol,
    urls: Type.Array(Type.String()),
    region: Type.Union([Type.String(), Type.Null()]),
    bucket: Type.Union([Type.String(), Type.Null()]),
    keys: Type.Array(Type.String()),
    endpoint: Type.Union([Type.String(), Type.Null()]),
    sealedCredentials: Type.Union([
      Type.String({ description: 'JSON, encrypted for the _id of the sync, see pipeline/encryption.ts' }),
      Type.Null(),
    ]),
    requested: Type.Object({ reason: SyncReason, at: Type.Integer() }, { additionalProperties: false }),
    lastRun: Type.Union([SyncRunRecord, Type.Null()]),
    /** Ended runs about which a mail must still be sent, oldest first. Absent: none. */
    mailsDue: Type.Optional(Type.Array(SyncRunRecord)),
    seen: Type.Array(SyncSeenFile),
  },
  { additionalProperties: false },
);
export type SyncRecord = Static<typeof SyncRecord>;

/** A run as the API returns it. Fields that are not set are absent. */
export const SyncRun = Type.Object({
  _id: Id,
  reason: SyncReason,
  startedAt: Timestamp,
  finishedAt: Type.Optional(Timestamp),
  result: SyncResult,
  message: Type.Optional(Type.String({ description: 'The result of the run, as a sentence' })),
  files: Type.Array(
    Type.Object({
      name: Type.String({ description: 'URL or key' }),
      result: SyncFileResult,
      message: Type.Optional(Type.String()),
      bytes: Type.Optional(Type.Integer()),
      import: Type.Optional(Type.String({ description: 'The import, with its bad rows: GET /v1/imports/:id' })),
      counts: Type.Optional(Type.Object(counts)),
    }),
  ),
  mailProblem: Type.Optional(Type.String({ description: 'Why the mail about the run was not sent' })),
});
export type SyncRun = Static<typeof SyncRun>;

/** The sync of an environment as the API returns it. Fields that are not set are absent. */
export const Sync = Type.Object(
  {
    live: Type.Boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    enabled: Type.Boolean(),
    notificationEmail: Type.Optional(Type.String()),
    protocol: SyncProtocol,
    urls: Type.Optional(Type.Array(Type.String())),
    region: Type.Optional(Type.String()),
    bucket: Type.Optional(Type.String()),
    keys: Type.Optional(Type.Array(Type.String())),
    endpoint: Type.Optional(Type.String()),
    hasCredentials: Type.Boolean({ description: 'Credentials are stored encrypted, and never returned' }),
    status: Type.Enum(['off', 'waiting', 'due', 'running'], {
      description: 'off: not enabled. waiting: for the next night. due: about to start. running: see lastRun',
    }),
    lastRun: Type.Optional(SyncRun),
    nextRunAt: Type.Optional(Timestamp),
  },
  { $id: 'Sync', description: 'Files of geofences that are imported every night' },
);
export type Sync = Static<typeof Sync>;

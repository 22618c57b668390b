/** JSON Schemas of imports: the stored record, the files that belong to it, and the API's representation. */
import Type, { type Static } from 'typebox';
import { Environment, Id, Timestamp } from './common.js';

/** What an import contains, as in its path. */
export const ImportedResourceName = Type.Enum(['geofences', 'beacons']);
export type ImportedResourceName = Static<typeof ImportedResourceName>;

/** The format of an imported file. */
export const ImportFormat = Type.Enum(['csv', 'geojson', 'ndjson']);
export type ImportFormat = Static<typeof ImportFormat>;

/**
 * running: rows are being applied. completed: every row was read. failed: the file or the import ended before; see
 * `failure`. interrupted: the process ended, or the import was cancelled; `lastLine` says where.
 */
export const ImportStatus = Type.Enum(['running', 'completed', 'failed', 'interrupted']);
export type ImportStatus = Static<typeof ImportStatus>;

/** Who asked for an import: a key, by its prefix and last characters, an account, by its id, or the nightly sync. */
export const ImportRequester = Type.Object(
  {
    kind: Type.Enum(['key', 'account', 'sync']),
    name: Type.String({ description: 'Prefix and last characters of the key, or the id of the account' }),
  },
  { additionalProperties: false },
);
export type ImportRequester = Static<typeof ImportRequester>;

const counts = {
  rows: Type.Integer({ description: 'Rows that were read, without the header and blank rows' }),
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  rejected: Type.Integer({ description: 'Rows that break a rule' }),
};
/** The rows of an import so far, by what became of them. */
export interface ImportCounts {
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: number;
}

/** A fault of the file, or the reason why an import ended. */
export const ImportFailure = Type.Object(
  {
    line: Type.Integer({ description: '0: no line' }),
    column: Type.String(),
    rule: Type.String({ description: 'Continues a sentence that begins with the column' }),
  },
  { additionalProperties: false },
);
export type ImportFailure = Static<typeof ImportFailure>;

/** A bad row, as answers list it. */
const ImportRejection = Type.Object(
  {
    line: Type.Integer({ description: 'Where the row begins; of GeoJSON the number of the feature' }),
    column: Type.String(),
    value: Type.String({ description: 'The beginning of what the column holds' }),
    rule: Type.String(),
  },
  { additionalProperties: false },
);

/** A row of a dry run. */
const ImportPlannedRow = Type.Object(
  {
    line: Type.Integer(),
    action: Type.Enum(['created', 'updated', 'unchanged']),
    tag: Type.Union([Type.String(), Type.Null()]),
    externalId: Type.Union([Type.String(), Type.Null()]),
    changed: Type.Optional(Type.Array(Type.String(), { description: 'Of an update: the fields that would change' })),
  },
  { additionalProperties: false },
);

/** The files of an import: its bad rows, and the rows of a dry run with what an import would do with them. */
export type ImportFileName = 'rejected' | 'planned';

/**
 * An import as topic `changes` stores it. Times are epoch ms; `null` means not set. `files` says how many parts each
 * file has, and whether rows are missing because it reached its limit.
 */
export const ImportRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    resource: ImportedResourceName,
    format: ImportFormat,
    fileName: Type.Union([Type.String(), Type.Null()]),
    requestedBy: ImportRequester,
    isDryRun: Type.Boolean(),
    status: ImportStatus,
    bytesTotal: Type.Union([Type.Integer(), Type.Null()]),
    bytesRead: Type.Integer(),
    ...counts,
    lastLine: Type.Integer(),
    failure: Type.Union([ImportFailure, Type.Null()]),
    finishedAt: Type.Union([Type.Integer(), Type.Null()]),
    files: Type.Object({
      rejected: Type.Object({ parts: Type.Integer(), isCut: Type.Boolean() }),
      planned: Type.Object({ parts: Type.Integer(), isCut: Type.Boolean() }),
    }),
    /** The first of each, for answers. */
    rejections: Type.Array(ImportRejection),
    planned: Type.Array(ImportPlannedRow),
  },
  { additionalProperties: false },
);
export type ImportRecord = Static<typeof ImportRecord>;

/** A part of a file of an import. Its id follows from that of the import. */
export const ImportPartRecord = Type.Object(
  {
    _id: Id,
    project: Id,
    environment: Environment,
    createdAt: Type.Integer(),
    updatedAt: Type.Integer(),
    text: Type.String(),
  },
  { additionalProperties: false },
);
export type ImportPartRecord = Static<typeof ImportPartRecord>;

/** An import as the API returns it. Fields that are not set are absent. */
export const Import = Type.Object(
  {
    _id: Id,
    createdAt: Timestamp,
    updatedAt: Timestamp,
    finishedAt: Type.Optional(Timestamp),
    live: Type.Boolean(),
    resource: ImportedResourceName,
    format: ImportFormat,
    fileName: Type.Optional(Type.String()),
    requestedBy: ImportRequester,
    dryRun: Type.Boolean({ description: 'Nothing was written' }),
    status: ImportStatus,
    message: Type.String({ description: 'The result of the import, as a sentence' }),
    bytesTotal: Type.Optional(Type.Integer()),
    bytesRead: Type.Integer(),
    ...counts,
    lastLine: Type.Integer({ description: 'Every row up to this line is applied or rejected' }),
    failure: Type.Optional(ImportFailure),
    rejections: Type.Optional(
      Type.Array(ImportRejection, { description: 'The first bad rows; a list of imports has none' }),
    ),
    rejectedFile: Type.Optional(Type.String({ description: 'Path of the bad rows as CSV, to correct and send again' })),
    rejectedFileCut: Type.Optional(
      Type.Boolean({ description: 'true: the file has reached its limit and lacks later bad rows' }),
    ),
    plannedRows: Type.Optional(Type.Array(ImportPlannedRow, { description: 'The first rows of a dry run' })),
    plannedFile: Type.Optional(Type.String({ description: 'Path of all rows of a dry run as CSV' })),
    plannedFileCut: Type.Optional(
      Type.Boolean({ description: 'true: the file has reached its limit and lacks later rows' }),
    ),
  },
  { $id: 'Import', description: 'A file of geofences or beacons that is being or was applied' },
);
export type Import = Static<typeof Import>;

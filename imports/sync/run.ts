/**
 * Runs the sync of one environment once: reads all files, imports those that have changed, and stores the result. No
 * file is imported unless all could be read. A mail about the run follows.
 */
import type { Mailer } from '../../outbound/mail/mail.js';
import type { ConfigurationReader, ConfigurationWriter, Scope } from '../../pipeline/catalog/types.js';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { isPortError } from '../../pipeline/errors.js';
import type { ExpiringValues } from '../../pipeline/ports.js';
import { dayMs, hourMs } from '../../schemas/durations.js';
import { ApiError } from '../../schemas/errors.js';
import { formatOfName, formatOfType } from '../../schemas/import-formats.js';
import type { ImportFormat, ImportRecord } from '../../schemas/json/import.js';
import type { SyncFileRecord, SyncRecord, SyncRunRecord, SyncSeenFile } from '../../schemas/json/sync.js';
import { sha256Hex } from '../../schemas/sha256.js';
import type { Importer } from '../importer.js';
import { credentialsOf, withMailsDue } from './record.js';
import { runMail, shownName } from './run-mail.js';
import { dueRun, maxAttempts, type Schedule } from './schedule.js';
import { type StagedFile, type StagingParts, seenAfter, stageFiles } from './stage-files.js';

/** Bounds of one run. */
export interface RunBounds {
  /** Of all files of a run together, on disk. */
  readonly maxBytes: number;
  /** Time to read all files of a run, with all attempts. */
  readonly maxReadMs: number;
  readonly retryDelaysMs: readonly number[];
  /** Mails of one environment within an hour. */
  readonly maxMailsPerHour: number;
  /** Mails of all environments to one address within a day. The address may be that of a stranger. */
  readonly maxMailsPerAddressPerDay: number;
  /** How long a run waits for other imports of its project, for all files together. */
  readonly maxImportWaitMs: number;
}

/** What a run works with. */
export interface RunParts extends Pick<StagingParts, 'client' | 'admitWrite' | 'clock'> {
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  readonly values: Pick<ExpiringValues, 'increment'>;
  readonly importer: Pick<Importer, 'importRecords'>;
  readonly mailer: Pick<Mailer, 'send'>;
  readonly cipher: SecretCipher;
  readonly schedule: Schedule;
  readonly bounds: RunBounds;
  /** Waits; rejects when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

const retryImportMs = 5_000;
const maxEditAttempts = 20;

/** One run: its id, its folder of files, and the signal that ends it. */
export interface RunContext {
  readonly id: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Runs the sync of a scope, if it is still due. Returns the sync with the stored result; undefined if nothing was run.
 * Rejects when the node stops or fails; then the run stays in progress.
 */
export async function runSync(
  parts: RunParts,
  { project, environment }: Scope,
  context: RunContext,
): Promise<SyncRecord | undefined> {
  const { schedule, clock } = parts;
  const scope = { project, environment };
  const begun = await edited(parts, scope, (sync) => {
    const due = dueRun(sync, schedule, clock());
    if (due === undefined) return undefined;
    const nowMs = clock();
    if (!sync.enabled) return { ...sync, lastRun: interrupted(sync, switchedOff, nowMs) };
    if (due.attempt > maxAttempts) return { ...sync, lastRun: interrupted(sync, givenUp, nowMs) };
    // A clock that is set back leaves requests of the future, which this run answers as well.
    const requested = { ...sync.requested, at: Math.min(sync.requested.at, nowMs) };
    return { ...sync, requested, lastRun: newRun(context.id, due, nowMs) };
  });
  if (begun?.lastRun == null) return undefined;
  const isNew = begun.lastRun._id === context.id;
  const { run, seen } = isNew
    ? await execute(parts, begun, begun.lastRun, context)
    : { run: begun.lastRun, seen: begun.seen };
  context.signal.throwIfAborted();

  return edited(parts, scope, (sync) => {
    if (sync.lastRun?._id !== run._id) return undefined;
    // Files that were seen before the owner saved may be of another source.
    const isSaved = sync.updatedAt !== begun.updatedAt;
    return withMailsDue({ ...sync, lastRun: run, ...(!isSaved && { seen }) }, mailsDueAfter(sync, run));
  });
}

/** Mails of a mail server that does not answer. Beyond these, the oldest is not sent. */
const maxMailsDue = 5;

/** Returns the mails that are due after a run. They are stored with its result, so that no kill comes in between. */
const mailsDueAfter = ({ mailsDue = [], notificationEmail }: SyncRecord, run: SyncRunRecord): SyncRunRecord[] =>
  notificationEmail === null ? mailsDue : [...mailsDue, run].slice(-maxMailsDue);

const isDueIn = ({ mailsDue = [] }: SyncRecord, { _id }: SyncRunRecord): boolean =>
  mailsDue.some((run) => run._id === _id);

/**
 * Sends the mail about a run, if it is still due, and stores that it is sent, or why it could not be sent. A process
 * that is killed in between leaves it due, and so it may be sent twice.
 */
export async function reportRun(parts: RunParts, scope: Scope, run: SyncRunRecord): Promise<void> {
  await parts.writer.catchUp();
  const sync = parts.configuration.sync(scope);
  if (sync === undefined || !isDueIn(sync, run)) return;
  const { notificationEmail: to } = sync;
  const mailProblem = to === null ? null : await mailed(parts, sync, run, to);
  await edited(parts, scope, (current) => {
    if (!isDueIn(current, run)) return undefined;
    // Another run may have ended meanwhile.
    const isLast = current.lastRun?._id === run._id;
    const others = (current.mailsDue ?? []).filter(({ _id }) => _id !== run._id);
    return withMailsDue(isLast ? { ...current, lastRun: { ...run, mailProblem } } : current, others);
  });
}

/** Sends the mail about a run. Returns why it could not. */
async function mailed(
  { values, bounds, configuration, mailer }: RunParts,
  sync: SyncRecord,
  run: SyncRunRecord,
  to: string,
): Promise<string | null> {
  const { maxMailsPerHour, maxMailsPerAddressPerDay } = bounds;
  if ((await values.increment(`sync-mails/${sync._id}`, hourMs)) > maxMailsPerHour)
    return `more than ${maxMailsPerHour} mails within an hour`;
  // Hashed: addresses are personal. `Ada@` and `ada@` are one person.
  const address = sha256Hex(to.toLowerCase());
  if ((await values.increment(`sync-mails-to/${address}`, dayMs)) > maxMailsPerAddressPerDay)
    return `more than ${maxMailsPerAddressPerDay} mails of syncs to this address within a day`;
  const project = configuration.project(sync.project)?.name ?? sync.project;
  const result = await mailer.send(runMail(sync, run, project, to));
  return result.kind === 'failed' ? result.message : null;
}

/**
 * Writes a change of the sync. Returns the record that was written; undefined if there is none or nothing to change.
 */
async function edited(
  { configuration, writer }: Pick<RunParts, 'configuration' | 'writer'>,
  scope: Scope,
  change: (sync: SyncRecord) => SyncRecord | undefined,
): Promise<SyncRecord | undefined> {
  for (let attempt = 1; ; attempt++) {
    await writer.catchUp();
    const current = configuration.sync(scope);
    const record = current && change(current);
    if (record === undefined) return undefined;
    const { _id } = record;
    const [outcome] = await writer.write([{ kind: 'sync', id: _id, record, bases: configuration.bases('sync', _id) }]);
    if (outcome?.kind === 'applied') return record;
    if (attempt === maxEditAttempts) throw new Error('other edits of the sync keep coming first');
  }
}

const newRun = (_id: string, { reason, attempt }: Pick<SyncRunRecord, 'reason' | 'attempt'>, startedAt: number) => ({
  _id,
  reason,
  attempt,
  startedAt,
  finishedAt: null,
  result: 'running' as const,
  message: null,
  files: [],
  mailProblem: null,
});

const switchedOff = 'The sync was switched off during the run.';
const givenUp = `The process ended during the run ${maxAttempts} times. The next night tries again.`;

const interrupted = ({ lastRun }: SyncRecord, message: string, nowMs: number): SyncRunRecord => ({
  ...(lastRun as SyncRunRecord),
  finishedAt: nowMs,
  result: 'interrupted',
  message,
});

interface Executed {
  readonly run: SyncRunRecord;
  readonly seen: SyncSeenFile[];
}

/** Stages all files, then imports them. */
async function execute(parts: RunParts, sync: SyncRecord, run: SyncRunRecord, context: RunContext): Promise<Executed> {
  const { signal, folder } = context;
  const pause = (ms: number) => parts.pause(ms, signal);
  const { maxBytes, maxReadMs, retryDelaysMs } = parts.bounds;
  const credentials = credentialsOf(sync, parts.cipher);
  if (sync.protocol === 's3' && credentials === null)
    return ended(parts, run, 'The credentials were encrypted with another key; save them again.', sync, []);
  let staged: StagedFile[];
  try {
    staged = await stageFiles(
      { ...parts, signal, pause, maxBytes, maxReadMs, retryDelaysMs },
      sync,
      credentials,
      folder,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!isExpected(error)) throw error;
    return ended(parts, run, `The files could not be stored: ${error.message}`, sync, []);
  }
  signal.throwIfAborted();
  const isStaged = staged.every(({ kind }) => kind !== 'failed');
  if (!isStaged) {
    const message = 'Not all files could be read, so none was imported.';
    return ended(parts, run, message, sync, staged.map(unimported));
  }
  const patience = { leftMs: parts.bounds.maxImportWaitMs };
  const files: SyncFileRecord[] = [];
  for (const file of staged)
    files.push(
      file.kind === 'staged' ? await imported(parts, sync, run, file, { signal, patience }) : unimported(file),
    );
  const seen = seenAfter(sync.seen, staged, (name) =>
    files.some((file) => file.name === name && file.result === 'imported'),
  );
  return { run: { ...run, ...resultOf(files), files, finishedAt: parts.writer.nextTimestamp() }, seen };
}

const isExpected = (error: unknown): error is Error => isPortError(error) || error instanceof ApiError;

function ended(
  { writer }: Pick<RunParts, 'writer'>,
  run: SyncRunRecord,
  message: string,
  { seen }: SyncRecord,
  files: SyncFileRecord[],
): Executed {
  return { run: { ...run, result: 'failed', message, files, finishedAt: writer.nextTimestamp() }, seen: [...seen] };
}

function resultOf(files: readonly SyncFileRecord[]): Pick<SyncRunRecord, 'result' | 'message'> {
  const count = (wanted: SyncFileRecord['result']) => files.filter(({ result }) => result === wanted).length;
  const [bad, failed, unchanged] = [count('rejected_rows'), count('failed'), count('unchanged')];
  if (failed > 0) return { result: 'failed', message: `${failed} of ${files.length} files could not be imported.` };
  if (bad > 0) return { result: 'failed', message: `${bad} of ${files.length} files have rows that break a rule.` };
  if (unchanged === files.length) return { result: 'succeeded', message: 'No file has changed.' };
  return { result: 'succeeded', message: `${files.length - unchanged} of ${files.length} files were imported.` };
}

const noImport = { import: null, counts: null };

/** Says of a file why it was not imported. */
function unimported(file: StagedFile): SyncFileRecord {
  const { name } = file;
  if (file.kind === 'failed') return { name, result: 'failed', message: file.message, bytes: null, ...noImport };
  const isStaged = file.kind === 'staged';
  return {
    name,
    result: isStaged ? 'skipped' : 'unchanged',
    message: null,
    bytes: isStaged ? file.bytes : null,
    ...noImport,
  };
}

/** The URL of a query says no format by its name, but the server of a map says one in `Content-Type`. */
function formatOf({ name, mediaType }: StagedFile & { readonly kind: 'staged' }): ImportFormat {
  const byType = mediaType === 'application/json' ? 'geojson' : formatOfType(mediaType);
  return formatOfName(shownName(name)) ?? byType ?? 'csv';
}

async function imported(
  parts: RunParts,
  sync: SyncRecord,
  run: SyncRunRecord,
  file: StagedFile & { readonly kind: 'staged' },
  { signal, patience }: { readonly signal: AbortSignal; readonly patience: { leftMs: number } },
): Promise<SyncFileRecord> {
  const { name, bytes } = file;
  const request = {
    scope: { project: sync.project, environment: sync.environment },
    resource: 'geofence' as const,
    format: formatOf(file),
    signal,
    requestedBy: { kind: 'sync' as const, name: run._id },
    fileName: shownName(name),
    bytesTotal: bytes,
  };
  for (;;) {
    try {
      const record = await parts.importer.importRecords({ ...request, source: { path: file.path } });
      signal.throwIfAborted();
      if (record.status === 'interrupted') throw new Error('the import was interrupted');
      return fileRecord(name, bytes, record);
    } catch (error) {
      signal.throwIfAborted();
      // Without the stores the run stays in progress, and is repeated.
      if (!isExpected(error) || isUnavailable(error)) throw error;
      if (!isBusy(error) || patience.leftMs <= 0)
        return { name, result: 'failed', message: error.message, bytes, ...noImport };
      patience.leftMs -= retryImportMs;
      await parts.pause(retryImportMs, signal);
    }
  }
}

const isUnavailable = (error: Error): boolean =>
  isPortError(error) || (error instanceof ApiError && error.code === 'unavailable');

/** Returns whether another import of the project, or too many on this node, keep this one from starting. */
const isBusy = (error: Error): boolean =>
  error instanceof ApiError && (error.code === 'import_running' || error.code === 'overloaded');

function fileRecord(name: string, bytes: number, record: ImportRecord): SyncFileRecord {
  const { status, rows, created, updated, unchanged, rejected, failure } = record;
  const isWhole = status === 'completed';
  return {
    name,
    result: !isWhole ? 'failed' : rejected > 0 ? 'rejected_rows' : 'imported',
    message: failure && `line ${failure.line}: ${failure.column}: ${failure.rule}`,
    bytes,
    import: record._id,
    counts: { rows, created, updated, unchanged, rejected },
  };
}

/** Converts imports to the API's JSON. */
import type { Import, ImportRecord, ImportStatus } from '../json/import.js';
import { grouped } from '../wording.js';
import { isoTime, withoutUnset } from './common.js';

const nothingChanged = ({ created, updated }: ImportRecord): boolean => created + updated === 0;

/** Returns the result of an import as a sentence. */
function importMessage(record: ImportRecord, status: ImportStatus): string {
  const { created, updated, unchanged, rejected, lastLine, failure, isDryRun } = record;
  const done = isDryRun ? 'would be ' : '';
  const counts =
    `${grouped(created)} ${done}created, ${grouped(updated)} ${done}updated, ` +
    `${grouped(unchanged)} unchanged, ${grouped(rejected)} rejected`;
  if (status === 'running') return `running: ${counts}`;
  if (status === 'interrupted')
    return `interrupted after line ${lastLine}: ${counts}; import the file again to apply the rest`;
  if (failure !== null) {
    const place = failure.line > 0 ? `line ${failure.line}: ` : '';
    return `${place}${failure.column}: ${failure.rule} (${counts})`;
  }
  return nothingChanged(record) ? `nothing ${isDryRun ? 'would change' : 'changed'}: ${counts}` : counts;
}

/**
 * Returns an import for answers.
 * @param status the status now: a stored import may be `running` although its process has ended.
 */
export function importJson(record: ImportRecord, status: ImportStatus, options: { isDetailed: boolean }): Import {
  const { _id, environment, createdAt, updatedAt, finishedAt, isDryRun, fileName, bytesTotal, failure } = record;
  const { resource, format, requestedBy, bytesRead, rows, created, updated, unchanged, rejected, lastLine } = record;
  const { files, rejections, planned } = record;
  const path = (name: string) => `/v1/imports/${_id}/${name}.csv`;
  return {
    _id,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    live: environment === 'live',
    resource,
    format,
    requestedBy,
    dryRun: isDryRun,
    status,
    message: importMessage(record, status),
    bytesRead,
    rows,
    created,
    updated,
    unchanged,
    rejected,
    lastLine,
    ...withoutUnset({ fileName, bytesTotal, failure, finishedAt: finishedAt === null ? null : isoTime(finishedAt) }),
    ...(files.rejected.parts > 0 && { rejectedFile: path('rejected') }),
    ...(files.rejected.isCut && { rejectedFileCut: true }),
    ...(files.planned.parts > 0 && { plannedFile: path('planned') }),
    ...(files.planned.isCut && { plannedFileCut: true }),
    ...(options.isDetailed && { rejections }),
    ...(options.isDetailed && isDryRun && { plannedRows: planned }),
  };
}

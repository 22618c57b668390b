/** The text of the mail about a run. Pure. */
import { type Mail, oneLine } from '../../outbound/mail/mail.js';
import type { SyncFileRecord, SyncRecord, SyncRunRecord } from '../../schemas/json/sync.js';
import { isoTime } from '../../schemas/wire/common.js';

/** Returns a name without the query of a URL, which may hold a secret. */
export const shownName = (name: string): string => (/^https?:/.test(name) ? name.replace(/[?#].*$/s, '') : name);

const words: Readonly<Record<SyncFileRecord['result'], string>> = {
  imported: 'imported',
  rejected_rows: 'imported in part: some rows break a rule',
  unchanged: 'unchanged since the last import',
  failed: 'failed',
  skipped: 'not imported, because another file failed',
};

function linesOf({ name, result, message, counts, import: importId }: SyncFileRecord): string[] {
  const lines = [oneLine(shownName(name)), `  ${words[result]}${message === null ? '' : `: ${oneLine(message)}`}`];
  if (counts !== null) {
    const { rows, created, updated, unchanged, rejected } = counts;
    lines.push(`  ${rows} rows: ${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected`);
  }
  if (result === 'rejected_rows') lines.push(`  bad rows: GET /v1/imports/${importId}`);
  return lines;
}

/**
 * Returns the mail about a run.
 * @param project the name of the project.
 */
export function runMail({ environment }: SyncRecord, run: SyncRunRecord, project: string, to: string): Mail {
  const place = `${oneLine(project)} (${environment})`;
  const text = [
    `${run.message ?? ''}`,
    '',
    `Project: ${place}`,
    `Started: ${isoTime(run.startedAt)}`,
    ...(run.finishedAt === null ? [] : [`Finished: ${isoTime(run.finishedAt)}`]),
    '',
    ...run.files.flatMap((file) => [...linesOf(file), '']),
  ].join('\n');
  return { to, subject: `Sync of geofences ${run.result}: ${place}`, text };
}

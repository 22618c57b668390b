/** Counts and times the work of a node that goes on beside its requests: maps, mails, imports and syncs. */
import type { Mailer } from '../outbound/mail/mail.js';
import { ApiError } from '../schemas/errors.js';
import type { ImportRecord } from '../schemas/json/import.js';
import type { SyncRunRecord } from '../schemas/json/sync.js';
import type { Maps } from './maps.js';
import type { Recorder } from './metrics.js';

/** Returns the services with maps and mails that are counted. The others stay as they are. */
export const observedServices = <Services extends { readonly maps: Maps; readonly mailer: Mailer }>(
  services: Services,
  recorder: Recorder,
): Services => ({
  ...services,
  maps: observedMaps(services.maps, recorder),
  mailer: observedMailer(services.mailer, recorder),
});

/** Returns maps that record the metrics `maps_rendered_total`, `map_render_seconds` and `maps_rendering`. */
const observedMaps = (maps: Maps, recorder: Recorder): Maps => ({
  ...maps,
  async render(project, request, uploads, signal) {
    const startedAtMs = performance.now();
    recorder.add('maps_rendering', 1);
    try {
      const drawn = await maps.render(project, request, uploads, signal);
      recorder.observe('map_render_seconds', (performance.now() - startedAtMs) / 1_000);
      recorder.add('maps_rendered_total', 1, 'drawn');
      return drawn;
    } catch (error) {
      recorder.add('maps_rendered_total', 1, resultOf(error, signal));
      throw error;
    } finally {
      recorder.add('maps_rendering', -1);
    }
  },
});

function resultOf(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted && error === signal.reason) return 'abandoned';
  return error instanceof ApiError ? 'refused' : 'failed';
}

/** Returns a mailer that records the metric `mails_total`. */
export const observedMailer = (mailer: Mailer, recorder: Recorder): Mailer => ({
  async send(mail) {
    const result = await mailer.send(mail);
    recorder.add('mails_total', 1, result.kind === 'failed' ? result.failure : result.kind);
    return result;
  },
  close: () => mailer.close(),
});

/** Counts an import that has ended, and its rows. A dry run applies none. */
export function countImport(record: ImportRecord, recorder: Recorder): void {
  if (record.isDryRun) return;
  recorder.add('imports_total', 1, record.status);
  for (const result of ['created', 'updated', 'unchanged', 'rejected'] as const)
    recorder.add('import_rows_total', record[result], result);
}

/** Counts a run of a sync that has ended. */
export const countSyncRun = ({ result }: SyncRunRecord, recorder: Recorder): void =>
  recorder.add('sync_runs_total', 1, result);

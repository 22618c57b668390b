import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, expect, it } from 'vitest';
import { firstRecord } from '../imports/execution.js';
import { createMailer } from '../outbound/mail/mailer.js';
import { apiMetrics, createRecorder } from './metrics.js';
import { countImport, countSyncRun, observedMailer } from './observed-services.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-observed-'));
afterAll(() => rmSync(folder, { recursive: true }));

function observed() {
  const registry = new Registry();
  const recorder = createRecorder(apiMetrics, registry);
  /** Returns the values of a counter by its label. */
  const valuesOf = async (name: keyof typeof apiMetrics): Promise<Record<string, number>> => {
    const values = (await registry.getSingleMetric(`fenceline_${name}`)?.get())?.values ?? [];
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.result), value]));
  };
  return { recorder, valuesOf };
}

it('counts mails that are written, and those that fail by their failure', async () => {
  const { recorder, valuesOf } = observed();
  const outbox = createMailer({ sender: 'a@example.com', transport: { outbox: { folder, maxMails: 10 } } });
  const refused = createMailer({
    sender: 'a@example.com',
    transport: {
      smtp: {
        host: '127.0.0.1',
        // Nothing listens on it.
        port: 1,
        tls: 'off',
        timeoutMs: 60_000,
        retryDelaysMs: [],
        maxConnections: 1,
        maxWaiting: 1,
      },
    },
  });
  for (const mailer of [outbox, refused]) {
    await observedMailer(mailer, recorder).send({ to: 'b@example.com', subject: 'Hello', text: 'Hello' });
    await mailer.close();
  }
  expect(await valuesOf('mails_total')).toEqual({ written: 1, unreachable: 1 });
});

it('counts imports and their rows, but no dry runs', async () => {
  const { recorder, valuesOf } = observed();
  const request = {
    scope: { project: 'a', environment: 'live' as const },
    resource: 'geofence' as const,
    source: { path: '' },
    format: 'csv' as const,
    requestedBy: { kind: 'key' as const, name: 'a' },
  };
  const rows = { created: 3, updated: 2, unchanged: 1, rejected: 4 };
  countImport({ ...firstRecord('1', request, 0), status: 'failed', ...rows }, recorder);
  countImport({ ...firstRecord('2', { ...request, isDryRun: true }, 0), status: 'completed', ...rows }, recorder);
  expect(await valuesOf('imports_total')).toEqual({ failed: 1 });
  expect(await valuesOf('import_rows_total')).toEqual(rows);
});

it('counts runs of syncs by result', async () => {
  const { recorder, valuesOf } = observed();
  const run = {
    _id: '1',
    reason: 'nightly' as const,
    attempt: 1,
    startedAt: 0,
    finishedAt: 1,
    message: null,
    files: [],
    mailProblem: null,
  };
  countSyncRun({ ...run, result: 'failed' }, recorder);
  countSyncRun({ ...run, result: 'failed' }, recorder);
  countSyncRun({ ...run, result: 'succeeded' }, recorder);
  expect(await valuesOf('sync_runs_total')).toEqual({ failed: 2, succeeded: 1 });
});

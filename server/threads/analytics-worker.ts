/** The analytics thread: the sink, and the engine that runs the API's queries. */
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { type ChdbAnalytics, openChdbAnalytics } from '../../backends/embedded/analytics.js';
import {
  type FrozenTable,
  freezeTables,
  removeAllSnapshots,
  removeOldSnapshots,
  removeSnapshot,
} from '../../backends/embedded/analytics-snapshot.js';
import { createSpace, isDiskFull, type Space, whenWritable } from '../../backends/embedded/space.js';
import type { Analytics } from '../../pipeline/ports.js';
import { migrate } from '../../pipeline/stages/analytics/migrate.js';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import type { Configuration } from '../config/schema.js';
import { analyticsFolder, openBackend } from '../data-folder/folders.js';
import { unreadableAnalytics } from '../data-folder/unusable.js';
import { createLogger } from '../logger.js';
import { createRecorder } from '../metrics.js';
import { startAnalyticsSink } from '../stages/analytics.js';
import { runWorker } from './worker.js';
import type { WorkerCalls } from './worker-host.js';

type Queries = Pick<Analytics, 'query' | 'file' | 'command'>;

/** Takes and removes snapshots for backups, by an id of 24 hex digits. */
export interface AnalyticsSnapshots {
  freeze(id: string): Promise<FrozenTable[]>;
  unfreeze(id: string): Promise<void>;
}

/** What the main thread can call in the analytics thread. */
export type AnalyticsCalls = WorkerCalls & Queries & AnalyticsSnapshots;

const tables = fileURLToPath(new URL('../../schemas/clickhouse', import.meta.url));

const pollIntervalMs = 250;
const removeSnapshotsEveryMs = 3_600_000;

/** Stops merges while the disk is full, because a merge temporarily needs as much space as its parts. */
function pauseMerges(analytics: Pick<Analytics, 'command'>, space: Space): { stop(): Promise<void> } {
  let arePaused = false;
  let running = Promise.resolve();

  async function follow(): Promise<void> {
    const isOut = space.level === 'out';
    if (isOut === arePaused) return;
    await analytics.command(isOut ? 'SYSTEM STOP MERGES' : 'SYSTEM START MERGES');
    arePaused = isOut;
  }
  const timer = setInterval(() => {
    running = running.then(follow);
  }, pollIntervalMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/** Opens the engine with its tables. Its errors, which have codes of its own, get those that a refusal can tell. */
async function openWithTables(path: string, { data, analytics }: Configuration, space: Space): Promise<ChdbAnalytics> {
  try {
    const opened = await openChdbAnalytics({ path, maxThreads: analytics.maxThreads, space });
    await migrate(opened, tables);
    return opened;
  } catch (error) {
    const { message, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== undefined) throw error;
    const code = isDiskFull(error, data) ? 'ENOSPC' : unreadableAnalytics;
    throw Object.assign(new Error(message), { code, path });
  }
}

runWorker<Queries & AnalyticsSnapshots>(async ({ configuration, space: sharedSpace }) => {
  const logger = createLogger(configuration);
  const registry = new Registry();
  const space = createSpace(sharedSpace);
  const backend = openBackend(configuration, space, 'wait');
  const path = analyticsFolder(configuration);
  removeAllSnapshots(path);
  const analytics = await openWithTables(path, configuration, space);
  const merges = pauseMerges(analytics, space);
  const removing = setInterval(() => void removeOldSnapshots(path, Date.now()), removeSnapshotsEveryMs);
  const waiting: Analytics = {
    ...analytics,
    insert: (table, rows) => whenWritable(space, configuration.data, () => analytics.insert(table, rows)),
  };
  const { log, positions } = backend;
  const metrics = createRecorder(stageMetrics, registry);
  const sink = startAnalyticsSink({ log, positions, analytics: waiting }, { configuration, logger, metrics });
  return {
    done: sink.done,
    calls: {
      query: analytics.query,
      file: analytics.file,
      command: (sql) => whenWritable(space, configuration.data, () => analytics.command(sql)),
      freeze: (id) => freezeTables(analytics, path, id),
      unfreeze: (id) => removeSnapshot(path, id),
      metrics: () => registry.getMetricsAsJSON(),
      async stop() {
        clearInterval(removing);
        await sink.close();
        await merges.stop();
        await analytics.close();
        await backend.close();
      },
    },
  };
});

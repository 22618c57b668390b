/** The thread that stores and answers analytics: the sink, and the engine that the API's queries run in. */
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openChdbAnalytics } from '../../backends/embedded/analytics.js';
import type { Analytics } from '../../pipeline/ports.js';
import { migrate } from '../../pipeline/stages/analytics/migrate.js';
import { createAnalyticsSink } from '../../pipeline/stages/analytics/sink.js';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import { analyticsFolder, openBackend } from './folders.js';
import { loggerOptions } from './logger.js';
import { createRecorder } from './metrics.js';
import { runWorker } from './worker.js';
import type { WorkerCalls } from './worker-host.js';

type Queries = Pick<Analytics, 'query' | 'file'>;
export type AnalyticsCalls = WorkerCalls & Queries;

const tables = fileURLToPath(new URL('../../schemas/clickhouse', import.meta.url));

runWorker<Queries>(async ({ configuration }) => {
  const { maxBatchRows, flushIntervalMs, maxThreads } = configuration.analytics;
  const logger = pino(loggerOptions(configuration), pino.destination(2));
  const registry = new Registry();
  const backend = openBackend(configuration);
  const analytics = await openChdbAnalytics({ path: analyticsFolder(configuration), maxThreads });
  await migrate(analytics, tables);
  const sink = createAnalyticsSink({
    log: backend.log,
    positions: backend.positions,
    analytics,
    clock: Date.now,
    metrics: createRecorder(stageMetrics, registry),
    onHalted: (halted) => logger.error(halted, 'partition halted'),
    bounds: {
      maxRows: maxBatchRows,
      maxDelayMs: flushIntervalMs,
      maxDeadLetterShare: configuration.deadLetters.maxPercent / 100,
    },
  });
  return {
    done: sink.done,
    calls: {
      query: (sql, parameters) => analytics.query(sql, parameters),
      file: (sql, format, parameters) => analytics.file(sql, format, parameters),
      metrics: () => registry.getMetricsAsJSON(),
      async stop() {
        await sink.close();
        await analytics.close();
        await backend.close();
      },
    },
  };
});

/** The thread that stores and answers analytics: the sink, and the engine that the API's queries run in. */
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { openChdbAnalytics } from '../../backends/embedded/analytics.js';
import type { Analytics } from '../../pipeline/ports.js';
import { migrate } from '../../pipeline/stages/analytics/migrate.js';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import { analyticsFolder, openBackend } from './folders.js';
import { loggerOptions } from './logger.js';
import { createRecorder } from './metrics.js';
import { startAnalyticsSink } from './stages.js';
import { runWorker } from './worker.js';
import type { WorkerCalls } from './worker-host.js';

type Queries = Pick<Analytics, 'query' | 'file'>;
export type AnalyticsCalls = WorkerCalls & Queries;

const tables = fileURLToPath(new URL('../../schemas/clickhouse', import.meta.url));

runWorker<Queries>(async ({ configuration }) => {
  const logger = pino(loggerOptions(configuration), pino.destination(2));
  const registry = new Registry();
  const backend = openBackend(configuration);
  const analytics = await openChdbAnalytics({
    path: analyticsFolder(configuration),
    maxThreads: configuration.analytics.maxThreads,
  });
  await migrate(analytics, tables);
  const { log, positions } = backend;
  const metrics = createRecorder(stageMetrics, registry);
  const sink = startAnalyticsSink({ log, positions, analytics }, { configuration, logger, metrics });
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

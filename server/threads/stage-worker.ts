/** The location thread: the location stage, and spatial queries of its catalog. */
import { Registry } from 'prom-client';
import { createReplies } from '../../backends/embedded/replies.js';
import { createSpace } from '../../backends/embedded/space.js';
import { createCatalog } from '../../pipeline/catalog/index/catalog.js';
import { followInBackground } from '../../pipeline/catalog/index/follow.js';
import { createSpatialQueries } from '../../pipeline/catalog/queries/queries.js';
import type { SpatialQueries } from '../../pipeline/catalog/types.js';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import { recordingApplied } from '../backlog.js';
import { openBackend, openNodeReadModel } from '../data-folder/folders.js';
import { createLogger } from '../logger.js';
import { createRecorder, observeCaches } from '../metrics.js';
import { startLocationStage } from '../stages/locations.js';
import { startTracing } from '../tracing/tracing.js';
import { runWorker } from './worker.js';
import type { WorkerCalls } from './worker-host.js';

/** What the main thread can call in the location thread. */
export type StageCalls = WorkerCalls & SpatialQueries;

runWorker<SpatialQueries>(async ({ configuration, space: sharedSpace, applied, replies }) => {
  const logger = createLogger(configuration);
  const registry = new Registry();
  const tracing = await startTracing(configuration, 'pipeline', logger);
  const space = createSpace(sharedSpace);
  const backend = openBackend(configuration, space, 'wait');
  const readModel = openNodeReadModel(configuration, space);
  const catalog = createCatalog(readModel);
  const following = followInBackground(catalog);
  const spatial = createSpatialQueries(catalog, Date.now);
  const parts = {
    log: backend.log,
    states: recordingApplied(backend.stateStore, applied),
    catalog,
    replies: createReplies(replies),
    searchGeofences: spatial.searchGeofences,
    observeCache: observeCaches(registry),
    tracing,
  };
  const stage = startLocationStage(parts, { configuration, logger, metrics: createRecorder(stageMetrics, registry) });
  return {
    done: stage.done,
    calls: {
      ...spatial,
      metrics: () => registry.getMetricsAsJSON(),
      async stop() {
        await stage.close();
        following.stop();
        await catalog.close();
        await readModel.close();
        await backend.close();
        await tracing?.close();
      },
    },
  };
});

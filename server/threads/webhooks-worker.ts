/**
 * The webhook thread: fan-out, queues and requests. It is separate, so that slow receivers delay no other thread.
 */
import { Registry } from 'prom-client';
import { createSpace } from '../../backends/embedded/space.js';
import { createSecretCipher } from '../../pipeline/encryption.js';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import { openBackend, openNodeReadModel } from '../data-folder/folders.js';
import { encryptionKey } from '../keys/encryption-key.js';
import { createLogger } from '../logger.js';
import { createRecorder } from '../metrics.js';
import { startWebhookStage } from '../stages/webhooks.js';
import { startTracing } from '../tracing/tracing.js';
import { runWorker } from './worker.js';

runWorker<object>(async ({ configuration, space: sharedSpace }) => {
  const logger = createLogger(configuration);
  const registry = new Registry();
  const tracing = await startTracing(configuration, 'webhooks', logger);
  const space = createSpace(sharedSpace);
  const backend = openBackend(configuration, space, 'wait');
  const readModel = openNodeReadModel(configuration, space);
  const secretCipher = createSecretCipher(encryptionKey(configuration.data));
  const stage = startWebhookStage({
    configuration,
    logger,
    registry,
    metrics: createRecorder(stageMetrics, registry),
    backend,
    readModel,
    secretCipher,
    tracing,
  });
  return {
    done: stage.done,
    calls: {
      metrics: () => registry.getMetricsAsJSON(),
      async stop() {
        await stage.stop();
        await readModel.close();
        await backend.close();
        await tracing?.close();
      },
    },
  };
});

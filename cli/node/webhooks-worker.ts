/** The thread that sends events to webhooks: fan-out, queues and requests, apart from the threads that others wait for. */
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { appendChange } from '../../pipeline/catalog/changes.js';
import { createSealer } from '../../pipeline/sealing.js';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import { createWebhookStage } from '../../pipeline/stages/webhooks/stage.js';
import { openBackend, openNodeView } from './folders.js';
import { loggerOptions } from './logger.js';
import { addGauge, createRecorder } from './metrics.js';
import { sealingKey } from './sealing-key.js';
import { createWebhookClient } from './webhooks.js';
import { runWorker } from './worker.js';

const dayMs = 24 * 60 * 60 * 1_000;

runWorker<object>(async ({ configuration }) => {
  const { maxConcurrency, maxConcurrencyPerEndpoint, keepWaitingDays } = configuration.webhooks;
  const logger = pino(loggerOptions(configuration), pino.destination(2));
  const registry = new Registry();
  const { log, stateStore, deliveryQueue, close: closeBackend } = openBackend(configuration);
  const view = openNodeView(configuration);
  const client = createWebhookClient(configuration);
  addGauge(registry, {
    name: 'webhook_deliveries_waiting',
    help: 'Deliveries that wait to be sent, for the first time or again.',
    read: () => deliveryQueue.size(),
  });
  const stage = createWebhookStage({
    log,
    queue: deliveryQueue,
    states: stateStore,
    configuration: view,
    client,
    sealer: createSealer(sealingKey(configuration.data)),
    async disable({ _id, project, environment }, reason, at) {
      view.refresh();
      const record = view.webhook({ project, environment }, _id);
      if (record === undefined || !record.enabled) return;
      const disabled = { ...record, enabled: false, disabled: { reason, at }, updatedAt: at };
      await appendChange({ log, clock: Date.now }, { kind: 'webhook', id: _id, record: disabled });
    },
    onNotice: (notice) => logger.warn(notice, 'webhooks'),
    metrics: createRecorder(stageMetrics, registry),
    bounds: { maxConcurrency, maxConcurrencyPerWebhook: maxConcurrencyPerEndpoint, keepWaitingMs: keepWaitingDays * dayMs },
  });
  return {
    done: stage.done,
    calls: {
      metrics: () => registry.getMetricsAsJSON(),
      async stop() {
        await stage.close();
        await client.close();
        await view.close();
        await closeBackend();
      },
    },
  };
});

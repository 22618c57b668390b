/** Starts the webhook stage on a backend, with the configured limits. Problems go to the log. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { appendChange, changesPartition } from '../../pipeline/catalog/store/append-change.js';
import type { ReadModel } from '../../pipeline/catalog/store/read-model.js';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { type DeliveryQueue, type Log, type StateStore, topics } from '../../pipeline/ports.js';
import { createWebhookStage, type WebhookStageParts as StageParts } from '../../pipeline/stages/webhooks/stage.js';
import { dayMs } from '../../schemas/durations.js';
import type { Configuration } from '../config/schema.js';
import { levelOf } from '../logger.js';
import { addGauge, type Recorder } from '../metrics.js';
import { createWebhookClient } from '../webhook-client.js';
import { maxDeadLetterShareOf } from './context.js';

interface WebhookStageParts {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Of the stages. */
  readonly metrics: Recorder;
  readonly backend: { readonly log: Log; readonly stateStore: StateStore; readonly deliveryQueue: DeliveryQueue };
  readonly readModel: ReadModel;
  readonly catchUp?: StageParts['catchUp'];
  readonly secretCipher: SecretCipher;
  readonly tracing: StageParts['tracing'];
}

interface RunningWebhookStage {
  /** Rejects when the stage fails. */
  readonly done: Promise<void>;
  /** Finishes what is in flight. */
  stop(): Promise<void>;
}

/** How long the outcome of an edit is waited for. */
const maxAppliedMs = 10_000;
const appliedPollMs = 50;

/** Waits until the read model, which another thread may apply changes to, has applied all before `offset`. */
async function untilApplied(readModel: Pick<ReadModel, 'refresh' | 'nextOffset'>, offset: number): Promise<void> {
  const endMs = performance.now() + maxAppliedMs;
  for (;;) {
    readModel.refresh();
    if (readModel.nextOffset >= offset || performance.now() > endMs) return;
    await delay(appliedPollMs);
  }
}

/**
 * Disables webhooks. Writes nothing if the owner has changed the webhook since it was sent to: the verdict is of the
 * former one. Returns whether the webhook is disabled; a read model that stands still is not waited for.
 */
export const disableWebhook =
  (
    log: Pick<Log, 'append' | 'end'>,
    readModel: Pick<ReadModel, 'refresh' | 'nextOffset' | 'bases' | 'webhook'>,
  ): StageParts['disable'] =>
  async ({ _id, project, environment, updatedAt }, reason, at) => {
    readModel.refresh();
    const bases = readModel.bases('webhook', _id);
    const stored = () => readModel.webhook({ project, environment }, _id);
    const record = stored();
    if (record === undefined || !record.enabled || record.updatedAt !== updatedAt) return false;
    const disabled = { ...record, enabled: false, disabled: { reason, at }, updatedAt: at };
    await appendChange({ log, clock: Date.now }, { kind: 'webhook', id: _id, record: disabled, bases });
    await untilApplied(readModel, await log.end(topics.changes, changesPartition));
    // The edit is refused if an owner was first.
    const current = stored();
    return current !== undefined && [at, updatedAt].includes(current.updatedAt);
  };

/** Starts the stage with a client of its own. The caller stops both by stopping the stage. */
export function startWebhookStage(parts: WebhookStageParts): RunningWebhookStage {
  const { configuration, logger, registry, metrics, readModel, secretCipher } = parts;
  const { log, stateStore, deliveryQueue } = parts.backend;
  const { maxConcurrency, maxConcurrencyPerEndpoint, deliveryRetentionDays, retrySchedule } = configuration.webhooks;
  const client = createWebhookClient(configuration);
  addGauge(registry, {
    name: 'webhook_deliveries_pending',
    help: 'Deliveries that wait for their first request or for a retry.',
    read: () => deliveryQueue.size(),
  });
  const stage = createWebhookStage({
    log,
    queue: deliveryQueue,
    states: stateStore,
    configuration: readModel,
    catchUp: parts.catchUp,
    client,
    secretCipher,
    disable: disableWebhook(log, readModel),
    onAlert: (alert) => logger[levelOf(alert)](alert, 'webhooks'),
    metrics,
    tracing: parts.tracing,
    retryDelaysMs: retrySchedule.map((seconds) => Number(seconds) * 1_000),
    bounds: {
      maxConcurrency,
      maxConcurrencyPerWebhook: maxConcurrencyPerEndpoint,
      deliveryRetentionMs: deliveryRetentionDays * dayMs,
      maxDeadLetterShare: maxDeadLetterShareOf(configuration),
    },
  });
  return {
    done: stage.done,
    async stop() {
      await stage.close();
      await client.close();
    },
  };
}

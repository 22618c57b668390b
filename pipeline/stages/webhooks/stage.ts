/**
 * The webhook stage: every event to every webhook that wants it, at least once, each device's in order as far as
 * retries allow, no webhook slowing another.
 *
 * Flows in: topic `events`, and topic `deliveries` with what is asked for again. They become deliveries, whose bytes
 * are fixed from then on, in queues on disk; from there the dispatcher sends them. Flows out: requests, topic
 * `attempts`, and webhooks that are disabled for being gone or for failing. May import: schemas, outbound, the other
 * rooms of the pipeline, the ports.
 */
import type { OutboundClient } from '../../../outbound/client.js';
import { type Codecs, codecs as fixedCodecs } from '../../../schemas/codecs.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { ConfigurationReader } from '../../catalog/types.js';
import type { SecretCipher } from '../../encryption.js';
import { type DeliveryQueue, type Log, type StateStore, type Subscription, topics } from '../../ports.js';
import { defaultMaxDeadLetterShare } from '../breaker.js';
import { watchClaims } from '../claim-watch.js';
import { type Metrics, noMetrics } from '../metrics.js';
import type { WebhookNotice } from './alerts.js';
import { createTry } from './attempt.js';
import { DeliveryConsumer } from './consumer.js';
import { Dispatcher, type DispatcherBounds } from './dispatcher.js';
import { createEventFanOut, createRedelivery } from './fan-out.js';
import { WebhookDirectory } from './matching.js';
import { noRepeats, recallEvents } from './repeats.js';
import { systemTimers, type Timers } from './timers.js';
import { withRestOfLocation } from './whole-groups.js';

/** Nothing grows past these. */
export interface WebhookStageBounds extends DispatcherBounds {
  readonly maxBatchRecords: number;
  readonly maxFencedTries: number;
  /** About so long is waited before a partition is claimed again. */
  readonly reclaimDelayMs: number;
  /** Of the latest records of a partition; past it the partition is halted. */
  readonly maxDeadLetterShare: number;
}

export const defaultWebhookStageBounds: WebhookStageBounds = {
  maxBatchRecords: 1_000,
  maxFencedTries: 10,
  reclaimDelayMs: 1_000,
  maxDeadLetterShare: defaultMaxDeadLetterShare,
  maxConcurrency: 2_000,
  maxConcurrencyPerWebhook: 16,
  maxWindow: 64,
  maxHeldDeliveries: 20_000,
  keepWaitingMs: 14 * 24 * 60 * 60 * 1_000,
};

export interface WebhookStageParts {
  readonly log: Log;
  readonly queue: DeliveryQueue;
  readonly states: Pick<StateStore, 'load'>;
  /** `refresh` shows what has been applied until now. */
  readonly configuration: ConfigurationReader & { refresh(): void };
  /** As of the location stage. */
  readonly catchUp?: (() => Promise<void>) | undefined;
  readonly client: Pick<OutboundClient, 'send'>;
  readonly secretCipher: SecretCipher;
  /** Writes to the configuration that the webhook is disabled. `atMs` is epoch ms. */
  readonly disable: (webhook: WebhookRecord, reason: 'gone' | 'failing', atMs: number) => Promise<void>;
  /** Epoch ms. */
  readonly clock?: () => number;
  readonly timers?: Timers;
  /** 0 up to 1. */
  readonly random?: () => number;
  readonly onNotice?: (notice: WebhookNotice) => void;
  readonly metrics?: Metrics;
  readonly bounds?: Partial<WebhookStageBounds>;
  readonly codecs?: Codecs;
}

/** The consumers that share the partitions of topics `events` and `deliveries`. */
export const webhookStageGroup = 'webhooks';

/**
 * Starts the stage. `done` rejects on anything unexpected. A partition that yields mostly dead letters is halted.
 * Closing begins no more requests and waits for those in flight, as long as the client lets them take.
 */
export function createWebhookStage(parts: WebhookStageParts): Subscription {
  const { log, queue, configuration, secretCipher, client } = parts;
  const { clock = Date.now, timers = systemTimers, random = Math.random } = parts;
  const { onNotice = () => {}, metrics = noMetrics, codecs = fixedCodecs } = parts;
  const bounds = { ...defaultWebhookStageBounds, ...parts.bounds };
  let onFailure: (error: unknown) => void = () => {};
  const failure = new Promise<never>((_, reject) => {
    onFailure = reject;
  });

  async function disable(webhook: WebhookRecord, reason: 'gone' | 'failing', atMs: number): Promise<void> {
    await parts.disable(webhook, reason, atMs);
    const { _id, project, environment } = webhook;
    onNotice({ kind: 'webhook_disabled', webhook: _id, project, environment, reason });
  }

  async function catchUp(): Promise<void> {
    await parts.catchUp?.();
    configuration.refresh();
  }

  const directory = new WebhookDirectory(configuration);
  const shared = { log, queue, catchUp, codecs, clock, metrics, onNotice, onFailure };
  const dispatcher = new Dispatcher({
    ...shared,
    configuration,
    directory,
    tryIt: createTry({ client, secretCipher, clock }),
    disable,
    timers,
    random,
    bounds,
  });
  const fanOutEvents = createEventFanOut({ ...parts, codecs, clock, directory });
  const handlers = [
    new DeliveryConsumer({
      ...shared,
      ...bounds,
      topic: topics.events,
      dispatcher,
      complete: (records) => withRestOfLocation(log, codecs.event, records, bounds.maxBatchRecords),
      fanOut: fanOutEvents,
      recall: (partition, nextOffset) => recallEvents(log, codecs.event, partition, nextOffset),
    }),
    new DeliveryConsumer({
      ...shared,
      ...bounds,
      topic: topics.deliveries,
      dispatcher,
      complete: async (records) => records,
      fanOut: createRedelivery({ codecs, queue, keepWaitingMs: bounds.keepWaitingMs }),
      recall: async () => noRepeats,
    }),
  ];
  const subscriptions = handlers.map((handler) =>
    log.consume({
      topic: handler.topic,
      group: webhookStageGroup,
      handler,
      maxBatchRecords: bounds.maxBatchRecords,
      maxWaitMs: 0,
    }),
  );
  const endWatch = watchClaims({
    verify: async () => void (await Promise.all(handlers.map((handler) => handler.verifyClaims()))),
    onReturn: queue.onReturn,
    onFailure,
  });
  return {
    done: Promise.race([failure, Promise.all(subscriptions.map(({ done }) => done)).then(() => {})]),
    async close() {
      endWatch();
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
      await dispatcher.close();
    },
  };
}

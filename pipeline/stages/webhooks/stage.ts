/**
 * The webhook stage: delivers every event to every webhook that wants it, at least once, in order per device as far as
 * retries allow, without one webhook slowing another.
 *
 * Input: topic `events`, and topic `deliveries` with requested redeliveries. Both become deliveries with fixed bytes,
 * in queues on disk, from which the dispatcher sends them. Output: requests, topic `attempts`, and webhooks that are
 * disabled because they are gone or failing.
 */
import type { OutboundClient } from '../../../outbound/client.js';
import { type Codecs, codecs as fixedCodecs } from '../../../schemas/codecs.js';
import type { WebhookDisabledReason } from '../../../schemas/json/webhook.js';
import type { ConfigurationReader } from '../../catalog/types.js';
import type { SecretCipher } from '../../encryption.js';
import { createFailure } from '../../failure.js';
import {
  type DeliveryQueue,
  deliveryTopics,
  type Log,
  type StateStore,
  type Subscription,
  topics,
} from '../../ports.js';
import type { Tracing } from '../../tracing.js';
import { systemTimers, type Timers } from '../background.js';
import { watchClaims } from '../claim-watch.js';
import { reclaimBounds } from '../claimed-partitions.js';
import { type Metrics, noMetrics } from '../metrics.js';
import type { PartitionAlert } from '../partition-alerts.js';
import { createSteadyClock } from '../steady-clock.js';
import { createSendAttempt } from './attempt.js';
import { createDeliveryConsumer } from './consumer.js';
import { DeliveryTraces } from './delivery-traces.js';
import { Dispatcher, type DispatcherBounds } from './dispatcher.js';
import { completeLastLocation, loadRecentEvents, noDuplicates } from './event-reader.js';
import { createEventFanOut, createRedelivery } from './fan-out.js';
import { WebhookDirectory } from './matching.js';
import type { Disable } from './sender.js';

/** Bounds without a setting, as of {@link createDeliveryConsumer} and {@link Dispatcher}. */
const fixedBounds = {
  maxBatchRecords: 1_000,
  ...reclaimBounds,
  maxWindow: 64,
  maxLoadedDeliveries: 20_000,
  maxLoadedBytes: 256 * 2 ** 20,
};

/** Bounds of the stage. */
export interface WebhookStageBounds
  extends Omit<DispatcherBounds, keyof typeof fixedBounds>,
    Partial<typeof fixedBounds> {
  /** Maximum share of dead letters among the latest records of a partition; beyond it the partition is halted. */
  readonly maxDeadLetterShare: number;
}

/** An alert for operators. None contains an address or a secret. */
export type WebhookAlert =
  | PartitionAlert
  /** The webhook gets no deliveries until its owner enables it again. */
  | {
      readonly kind: 'webhook_disabled';
      readonly webhook: string;
      readonly project: string;
      readonly environment: string;
      readonly reason: WebhookDisabledReason;
    };

/**
 * What the stage uses. Closing the stage closes none of it. Default clocks, timers and `random` are those of the
 * system.
 */
export interface WebhookStageParts {
  readonly log: Log;
  readonly queue: DeliveryQueue;
  readonly states: Pick<StateStore, 'load'>;
  /** `refresh` makes the changes applied so far visible. */
  readonly configuration: ConfigurationReader & { refresh(): void };
  /** As of the location stage. */
  readonly catchUp?: (() => Promise<void>) | undefined;
  readonly client: Pick<OutboundClient, 'send'>;
  readonly secretCipher: SecretCipher;
  readonly disable: Disable;
  /** Epoch ms. */
  readonly clock?: () => number;
  /** Milliseconds since any moment; never set back. */
  readonly monotonicMs?: () => number;
  readonly timers?: Timers;
  /** 0 up to 1. */
  readonly random?: () => number;
  /** Delay of each retry, from the end of a failed attempt. */
  readonly retryDelaysMs: readonly number[];
  readonly onAlert?: (alert: WebhookAlert) => void;
  readonly metrics?: Metrics;
  readonly tracing?: Tracing | undefined;
  readonly bounds: WebhookStageBounds;
  readonly codecs?: Codecs;
}

/** Consumer group of topics `events` and `deliveries`. */
export const webhookStageGroup = 'webhooks';

/**
 * Starts the stage. `done` rejects on anything unexpected. A partition with mostly dead letters is halted. Closing
 * starts no more requests and waits for those in flight, up to the client's time limit.
 */
export function createWebhookStage(parts: WebhookStageParts): Subscription {
  const { log, queue, configuration, secretCipher, client, retryDelaysMs } = parts;
  const { clock = Date.now, monotonicMs = () => performance.now() } = parts;
  const { timers = systemTimers, random = Math.random } = parts;
  const { onAlert = () => {}, metrics = noMetrics, codecs = fixedCodecs } = parts;
  const bounds = { ...fixedBounds, ...parts.bounds };
  const { failed, fail: onFailure } = createFailure();

  const disable: Disable = async (webhook, reason, atMs) => {
    const isDisabled = await parts.disable(webhook, reason, atMs);
    const { _id, project, environment } = webhook;
    if (isDisabled) onAlert({ kind: 'webhook_disabled', webhook: _id, project, environment, reason });
    return isDisabled;
  };

  async function catchUp(): Promise<void> {
    await parts.catchUp?.();
    configuration.refresh();
  }

  const directory = new WebhookDirectory(configuration);
  const traces = parts.tracing && new DeliveryTraces(parts.tracing);
  const steadyClock = createSteadyClock(clock, monotonicMs);
  const shared = { log, queue, catchUp, codecs, clock, steadyClock, metrics, onAlert, onFailure };
  const dispatcher = new Dispatcher({
    ...shared,
    configuration,
    directory,
    sendAttempt: createSendAttempt({ client, secretCipher, clock, traces }),
    disable,
    timers,
    random,
    retryDelaysMs,
    bounds,
  });
  const fanOutEvents = createEventFanOut({ ...parts, codecs, clock, directory, traces });
  const consumers = {
    [topics.events]: createDeliveryConsumer({
      ...shared,
      ...bounds,
      topic: topics.events,
      dispatcher,
      completeBatch: (records) => completeLastLocation(log, codecs.event, records, bounds.maxBatchRecords),
      fanOut: fanOutEvents,
      loadDuplicateFilter: (partition, nextOffset) => loadRecentEvents(log, codecs.event, partition, nextOffset),
    }),
    [topics.deliveries]: createDeliveryConsumer({
      ...shared,
      ...bounds,
      topic: topics.deliveries,
      dispatcher,
      completeBatch: async (records) => records,
      fanOut: createRedelivery({ codecs, queue, deliveryRetentionMs: bounds.deliveryRetentionMs }),
      loadDuplicateFilter: async () => noDuplicates,
    }),
  };
  const subscriptions = deliveryTopics.map((topic) =>
    log.consume({
      topic,
      group: webhookStageGroup,
      handler: consumers[topic],
      maxBatchRecords: bounds.maxBatchRecords,
      maxWaitMs: 0,
    }),
  );
  const endWatch = watchClaims({
    verify: async () => void (await Promise.all(Object.values(consumers).map((consumer) => consumer.verifyClaims()))),
    onReturn: queue.onReturn,
    onFailure,
  });
  return {
    done: Promise.race([failed, Promise.all(subscriptions.map(({ done }) => done)).then(() => {})]),
    async close() {
      endWatch();
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
      await dispatcher.close();
    },
  };
}

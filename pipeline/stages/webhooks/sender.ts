/**
 * Makes attempts and decides what follows: for the delivery by the retry schedule, for the webhook by its health.
 *
 * Input: a delivery and its webhook as it is now. Output: an ended delivery for the acknowledgement batcher, changes of
 * the endpoint's health, and the disabling of a webhook that is gone or failing.
 */
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { DeliveryQueue } from '../../ports.js';
import type { Background } from '../background.js';
import type { Metrics } from '../metrics.js';
import type { AcknowledgementBatcher } from './acknowledgement-batcher.js';
import { type AttemptOutcome, attemptRecord, type SendAttempt, withoutRequest } from './attempt.js';
import type { Endpoint, TakenDelivery } from './endpoint.js';
import { applyStored, type EndpointHealth, hasFailedTooLong, healthRetentionMs, recordAttempt } from './health.js';
import { decideRetry } from './schedule.js';

/**
 * Disables a webhook that was sent to; resolves when the change is written, or to false if nothing is written because
 * the webhook is another one by now. `atMs` is epoch ms.
 */
export type Disable = (webhook: WebhookRecord, reason: 'gone' | 'failing', atMs: number) => Promise<boolean>;

interface SenderParts {
  readonly sendAttempt: SendAttempt;
  readonly disable: Disable;
  readonly queue: Pick<DeliveryQueue, 'health' | 'setHealth'>;
  readonly acknowledgements: Pick<AcknowledgementBatcher, 'add'>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** As of `createSteadyClock`. */
  readonly steadyClock: () => number;
  /** 0 up to 1, as of Math.random. */
  readonly random: () => number;
  /** Delay of each retry. */
  readonly retryDelaysMs: readonly number[];
  readonly metrics: Metrics;
  readonly background: Background;
}

/** Makes the attempts of the dispatcher, which decides when. */
export class Sender {
  readonly #parts: SenderParts;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Makes one attempt; resolves when it has ended. The acknowledgement follows later. */
  async send(endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery): Promise<void> {
    const { sendAttempt, metrics, clock, steadyClock, retryDelaysMs, random } = this.#parts;
    const { delivery, attempts, appendedAtMs } = taken.loaded;
    if (attempts === 0) metrics.observe('webhook_lag_seconds', (clock() - appendedAtMs) / 1_000);
    const outcome = await sendAttempt(webhook, delivery);
    const attempt = attempts + 1;
    const endedAtMs = clock();
    const { state, delayMs, pauseMs } = decideRetry({ ...outcome, attempt, endedAtMs }, retryDelaysMs, random);
    const nextDueAtMs = delayMs === null ? null : steadyClock() + delayMs;
    await this.#updateHealth(endpoint, webhook, outcome, pauseMs);
    const nextAttemptAtMs = delayMs === null ? null : endedAtMs + delayMs;
    this.#parts.acknowledgements.add({
      endpoint,
      ...taken,
      nextDueAtMs,
      attempt: attemptRecord(delivery, attempt, outcome, { state, nextAttemptAtMs }),
    });
  }

  /** Gives up a delivery that was queued for too long: records it and removes it from the queue. */
  giveUp(endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery): void {
    const { delivery, attempts } = taken.loaded;
    const outcome = withoutRequest('expired', webhook.url, this.#parts.clock());
    const decision = { state: 'given_up', nextAttemptAtMs: null } as const;
    this.#parts.acknowledgements.add({
      endpoint,
      ...taken,
      nextDueAtMs: null,
      attempt: attemptRecord(delivery, attempts + 1, outcome, decision),
    });
  }

  async #updateHealth(
    endpoint: Endpoint,
    webhook: WebhookRecord,
    { result }: AttemptOutcome,
    pauseMs: number,
  ): Promise<void> {
    const health = endpoint.health as EndpointHealth;
    const nowMs = this.#parts.clock();
    const isDelivered = result === 'delivered';
    if (pauseMs > 0) health.pausedUntilMs = Math.max(health.pausedUntilMs, this.#parts.steadyClock() + pauseMs);
    const isDue = recordAttempt(health, isDelivered, nowMs);
    // A failing endpoint keeps no more in memory than it may send.
    if (!isDelivered) endpoint.release(1);
    if (result === 'gone') this.#disable(webhook, health, 'gone', nowMs);
    if (isDue || hasFailedTooLong(health, webhook, nowMs)) await this.#storeHealth(endpoint.id, health, nowMs);
    if (hasFailedTooLong(health, webhook, nowMs)) this.#disable(webhook, health, 'failing', nowMs);
  }

  /** Each process sends a part of a webhook's deliveries, so a failure counts only beside what others have stored. */
  async #storeHealth(webhook: string, health: EndpointHealth, nowMs: number): Promise<void> {
    const { queue } = this.#parts;
    applyStored(health, await queue.health(webhook), nowMs);
    const { failingSinceMs, lastSuccessAtMs } = health;
    await queue.setHealth(webhook, { failingSinceMs, lastSuccessAtMs }, healthRetentionMs);
  }

  #disable(webhook: WebhookRecord, health: EndpointHealth, reason: 'gone' | 'failing', atMs: number): void {
    if (health.disabledAsOf === webhook.updatedAt) return;
    health.disabledAsOf = webhook.updatedAt;
    const { disable, metrics, background } = this.#parts;
    const count = (isDisabled: boolean) => isDisabled && metrics.add('webhooks_disabled_total', 1, reason);
    background.run(disable(webhook, reason, atMs).then(count));
  }
}

/**
 * Makes the tries, and decides what follows from each: for the delivery, by the schedule; for the webhook, by its
 * health.
 *
 * Flows in: a delivery and its webhook as it is now. Flows out: an ended delivery to the settler, changes of the
 * webhook's condition, and the disabling of one that is gone or hopeless.
 */
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { DeliveryQueue } from '../../ports.js';
import type { Metrics } from '../metrics.js';
import type { Settler } from './acknowledgement-batcher.js';
import { attemptRecord, type Try, type TryOutcome, withoutRequest } from './attempt.js';
import type { Background } from './background.js';
import type { Endpoint, TakenDelivery } from './endpoint.js';
import { type Condition, isHopeless, noteTry } from './health.js';
import { verdictOn } from './schedule.js';

/** Resolves when the change is written. `atMs` is epoch ms. */
export type Disable = (webhook: WebhookRecord, reason: 'gone' | 'failing', atMs: number) => Promise<void>;

export interface SenderParts {
  readonly tryIt: Try;
  readonly disable: Disable;
  readonly queue: Pick<DeliveryQueue, 'setHealth'>;
  readonly settler: Pick<Settler, 'add'>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** 0 up to 1, as of Math.random. */
  readonly random: () => number;
  readonly metrics: Metrics;
  readonly background: Background;
}

export class Sender {
  readonly #parts: SenderParts;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Resolves when the try has ended; it is settled later. */
  async send(endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery): Promise<void> {
    const { tryIt, metrics, clock, random } = this.#parts;
    const { delivery, attempts, sinceMs } = taken.held;
    if (attempts === 0) metrics.observe('webhook_lag_ms', clock() - sinceMs);
    const outcome = await tryIt(webhook, delivery);
    const attempt = attempts + 1;
    const verdict = verdictOn({ ...outcome, attempt, endedAtMs: clock() }, random);
    this.#judge(endpoint, webhook, outcome, verdict.pausedUntilMs);
    this.#parts.settler.add({ endpoint, ...taken, attempt: attemptRecord(delivery, attempt, outcome, verdict) });
  }

  /** It has waited too long: on record as such, and gone from the queue. */
  giveUp(endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery): void {
    const { delivery, attempts } = taken.held;
    const outcome = withoutRequest('expired', webhook.url, this.#parts.clock());
    const verdict = { state: 'given_up', nextAttemptAtMs: null } as const;
    this.#parts.settler.add({ endpoint, ...taken, attempt: attemptRecord(delivery, attempts + 1, outcome, verdict) });
  }

  #judge(endpoint: Endpoint, webhook: WebhookRecord, { result }: TryOutcome, pausedUntilMs: number | null): void {
    const { queue, clock, background } = this.#parts;
    const condition = endpoint.condition as Condition;
    const nowMs = clock();
    const isDelivered = result === 'delivered';
    condition.pausedUntilMs = Math.max(condition.pausedUntilMs, pausedUntilMs ?? 0);
    if (noteTry(condition, isDelivered, nowMs)) {
      const { failingSinceMs, lastSuccessAtMs } = condition;
      background.run(queue.setHealth(endpoint.id, { failingSinceMs, lastSuccessAtMs }));
    }
    // One that fails holds no more in memory than it may be sent.
    if (!isDelivered) endpoint.release(1);
    if (result === 'gone') this.#disable(webhook, condition, 'gone', nowMs);
    else if (isHopeless(condition, webhook, nowMs)) this.#disable(webhook, condition, 'failing', nowMs);
  }

  #disable(webhook: WebhookRecord, condition: Condition, reason: 'gone' | 'failing', atMs: number): void {
    if (condition.disabledAsOf === webhook.updatedAt) return;
    condition.disabledAsOf = webhook.updatedAt;
    this.#parts.metrics.add('webhooks_disabled_total', 1, reason);
    this.#parts.background.run(this.#parts.disable(webhook, reason, atMs));
  }
}

/**
 * Disabled webhooks with queued deliveries. Checks them again when the configuration has changed, and gives up
 * deliveries that have been queued for too long.
 */
import { hourMs } from '../../../schemas/durations.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Background, Timers } from '../background.js';
import type { Endpoint, TakenDelivery } from './endpoint.js';
import type { EndpointQueue } from './endpoint-queue.js';
import type { EndpointHealth } from './health.js';

const checkEveryMs = 1_000;
const maxGiveUpEveryMs = hourMs;

interface DisabledEndpointsParts {
  readonly timers: Timers;
  /** Epoch ms. */
  readonly clock: () => number;
  /** As of `createSteadyClock`. */
  readonly steadyClock: () => number;
  /** Grows with every change of the configuration. */
  readonly version: () => number;
  /** Returns the current webhook; undefined when it was deleted. */
  readonly webhookOf: (endpoint: Endpoint) => WebhookRecord | undefined;
  /** Called when an endpoint is enabled, deleted or idle. */
  readonly onRelease: (endpoint: Endpoint) => void;
  readonly giveUp: (endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery) => void;
  /** Resolves when all given-up deliveries are acknowledged. */
  readonly acknowledged: () => Promise<void>;
  readonly background: Background;
  /** Maximum age of a queued delivery. */
  readonly deliveryRetentionMs: number;
  /** Deliveries loaded at once from one queue. */
  readonly maxWindow: number;
}

/** Returns whether the owner disabled the webhook, or this process did and the read model may not show it yet. */
export const isDisabled = ({ enabled, updatedAt }: WebhookRecord, health: EndpointHealth | undefined): boolean =>
  !enabled || updatedAt === health?.disabledAsOf;

/** The endpoints to which nothing is sent now, outside of the dispatcher's turns. */
export class DisabledEndpoints {
  readonly #parts: DisabledEndpointsParts;
  readonly #endpoints = new Set<Endpoint>();
  readonly #giveUpEveryMs: number;
  #seenVersion = -1;
  #nextGiveUpAtMs = 0;
  #timer: unknown;
  #isClosed = false;

  constructor(parts: DisabledEndpointsParts) {
    this.#parts = parts;
    this.#giveUpEveryMs = Math.min(maxGiveUpEveryMs, parts.deliveryRetentionMs);
  }

  /** Takes an endpoint over, and its deliveries out of memory. */
  add(endpoint: Endpoint): void {
    endpoint.release(0);
    this.#endpoints.add(endpoint);
    if (this.#timer === undefined) this.#checkLater();
  }

  /** Ends the checks. */
  close(): void {
    this.#isClosed = true;
    this.#parts.timers.clear(this.#timer);
  }

  #checkLater(): void {
    this.#timer = undefined;
    if (this.#isClosed || this.#endpoints.size === 0) return;
    this.#timer = this.#parts.timers.set(() => this.#parts.background.run(this.#check()), checkEveryMs);
  }

  async #check(): Promise<void> {
    const { steadyClock } = this.#parts;
    this.#releaseEnabled();
    if (steadyClock() >= this.#nextGiveUpAtMs) {
      this.#nextGiveUpAtMs = steadyClock() + this.#giveUpEveryMs;
      for (const endpoint of this.#endpoints) await this.#giveUpOld(endpoint);
    }
    this.#checkLater();
  }

  /** Releases the endpoints that were enabled or deleted since the last call, and those that have become idle. */
  #releaseEnabled(): void {
    const { version, onRelease } = this.#parts;
    const hasChanged = version() !== this.#seenVersion;
    this.#seenVersion = version();
    for (const endpoint of this.#endpoints) {
      if (!endpoint.isIdle && (!hasChanged || this.#isStillDisabled(endpoint))) continue;
      this.#endpoints.delete(endpoint);
      onRelease(endpoint);
    }
  }

  #isStillDisabled(endpoint: Endpoint): boolean {
    const webhook = this.#parts.webhookOf(endpoint);
    return webhook !== undefined && isDisabled(webhook, endpoint.health);
  }

  async #giveUpOld(endpoint: Endpoint): Promise<void> {
    for (const queue of [...endpoint.queues.values()]) {
      while (await this.#giveUpFirst(endpoint, queue));
    }
  }

  /**
   * Gives up deliveries that are too old among the first of the queue. Returns whether there may be more. Before, it
   * releases what was enabled meanwhile: to give up everything old may take minutes.
   */
  async #giveUpFirst(endpoint: Endpoint, queue: EndpointQueue): Promise<boolean> {
    const { clock, steadyClock, deliveryRetentionMs, maxWindow, webhookOf, giveUp, acknowledged } = this.#parts;
    this.#releaseEnabled();
    const webhook = webhookOf(endpoint);
    if (webhook === undefined || !this.#endpoints.has(endpoint) || queue.isLoading || this.#isClosed) return false;
    await queue.load(maxWindow, steadyClock());
    const old = queue.takeCreatedBefore(clock() - deliveryRetentionMs);
    queue.release(0);
    for (const loaded of old) giveUp(endpoint, webhook, { queue, loaded });
    await acknowledged();
    return old.length > 0;
  }
}

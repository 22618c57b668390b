/**
 * Webhooks that are disabled while something waits for them. They are looked at again when the configuration has
 * changed, and what has waited too long is given up from time to time.
 */
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Background } from './background.js';
import type { Endpoint, TakenDelivery } from './endpoint.js';
import type { Lane } from './endpoint-queue.js';
import type { Condition } from './health.js';
import type { Timers } from './timers.js';

const lookAgainMs = 1_000;
const maxGiveUpEveryMs = 60 * 60 * 1_000;

export interface ParkingParts {
  readonly timers: Timers;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Grows with every change of the configuration. */
  readonly version: () => number;
  /** As it is now; undefined when it was deleted. */
  readonly webhookOf: (endpoint: Endpoint) => WebhookRecord | undefined;
  /** It is not parked any more. */
  readonly onLeaving: (endpoint: Endpoint) => void;
  readonly giveUp: (endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery) => void;
  /** Resolves when all that was given up is settled. */
  readonly settled: () => Promise<void>;
  readonly background: Background;
  /** A delivery that is older is given up. */
  readonly keepWaitingMs: number;
  /** Of one lane, read at once. */
  readonly maxWindow: number;
}

/** By its owner, or by this process, whose read model may not show it yet. */
export const isDisabled = ({ enabled, updatedAt }: WebhookRecord, condition: Condition | undefined): boolean =>
  !enabled || updatedAt === condition?.disabledAsOf;

export class Parking {
  readonly #parts: ParkingParts;
  readonly #parked = new Set<Endpoint>();
  readonly #giveUpEveryMs: number;
  #seenVersion = -1;
  #nextGiveUpAtMs = 0;
  #timer: unknown;
  #isClosed = false;

  constructor(parts: ParkingParts) {
    this.#parts = parts;
    this.#giveUpEveryMs = Math.min(maxGiveUpEveryMs, parts.keepWaitingMs);
  }

  add(endpoint: Endpoint): void {
    endpoint.release(0);
    this.#parked.add(endpoint);
    if (this.#timer === undefined) this.#lookAgainLater();
  }

  close(): void {
    this.#isClosed = true;
    this.#parts.timers.clear(this.#timer);
  }

  #lookAgainLater(): void {
    this.#timer = undefined;
    if (this.#isClosed || this.#parked.size === 0) return;
    this.#timer = this.#parts.timers.set(() => this.#parts.background.run(this.#lookAgain()), lookAgainMs);
  }

  async #lookAgain(): Promise<void> {
    const { version, clock, onLeaving } = this.#parts;
    const hasChanged = version() !== this.#seenVersion;
    this.#seenVersion = version();
    for (const endpoint of this.#parked) {
      if (!endpoint.isIdle && (!hasChanged || this.#mustStay(endpoint))) continue;
      this.#parked.delete(endpoint);
      onLeaving(endpoint);
    }
    if (clock() >= this.#nextGiveUpAtMs) {
      this.#nextGiveUpAtMs = clock() + this.#giveUpEveryMs;
      for (const endpoint of this.#parked) await this.#giveUpOld(endpoint);
    }
    this.#lookAgainLater();
  }

  #mustStay(endpoint: Endpoint): boolean {
    const webhook = this.#parts.webhookOf(endpoint);
    return webhook !== undefined && isDisabled(webhook, endpoint.condition);
  }

  async #giveUpOld(endpoint: Endpoint): Promise<void> {
    for (const lane of [...endpoint.lanes.values()]) {
      while (await this.#giveUpFirst(endpoint, lane));
    }
  }

  /** Gives up what is too old of the first that wait; answers whether there may be more. */
  async #giveUpFirst(endpoint: Endpoint, lane: Lane): Promise<boolean> {
    const { clock, keepWaitingMs, maxWindow, webhookOf, giveUp, settled } = this.#parts;
    const webhook = webhookOf(endpoint);
    if (webhook === undefined || lane.isLoading || this.#isClosed) return false;
    await lane.load(maxWindow, clock());
    const old = lane.takeCreatedBefore(clock() - keepWaitingMs);
    lane.release(0);
    for (const held of old) giveUp(endpoint, webhook, { lane, held });
    await settled();
    return old.length === maxWindow;
  }
}

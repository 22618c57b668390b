/** One webhook as the dispatcher sees it: its queues, one per source, and its deliveries in flight. */
import type { Scope } from '../../catalog/types.js';
import type { ClaimedSource, LoadedDelivery } from './claimed-source.js';
import type { EndpointQueue } from './endpoint-queue.js';
import { Fifo } from './fifo.js';
import { type EndpointHealth, isHealthy } from './health.js';

/** A delivery in flight, and the queue to acknowledge it in. */
export interface TakenDelivery {
  readonly queue: EndpointQueue;
  readonly loaded: LoadedDelivery;
}

/** The state of one webhook that its deliveries share. */
export class Endpoint {
  readonly id: string;
  readonly queues = new Map<ClaimedSource, EndpointQueue>();
  /** Order keys of the deliveries in flight. */
  readonly busyKeys = new Set<string>();
  inFlight = 0;
  /** Known from the first delivery. */
  scope: Scope | undefined;
  /** Undefined until loaded. */
  health: EndpointHealth | undefined;
  /** Time by the steady clock at which `timer` fires. */
  wakesAtMs = Number.POSITIVE_INFINITY;
  timer: unknown;

  constructor(id: string) {
    this.id = id;
  }

  /** Returns whether the last attempt succeeded. False until the health is loaded. */
  get isHealthy(): boolean {
    return this.health !== undefined && isHealthy(this.health);
  }

  /** True when nothing is queued or in flight. */
  get isIdle(): boolean {
    if (this.inFlight > 0) return false;
    for (const queue of this.queues.values()) if (!queue.isEmpty) return false;
    return true;
  }

  /** Time by the steady clock at which the first delivery on disk is due; Infinity without one. */
  get storedDueAtMs(): number {
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const { storedDueAtMs } of this.queues.values()) earliestMs = Math.min(earliestMs, storedDueAtMs);
    return earliestMs;
  }

  /** Takes the next delivery that may be sent; the queues take turns. */
  take(): TakenDelivery | undefined {
    for (const [source, queue] of this.queues) {
      const loaded = queue.take(this.busyKeys);
      if (loaded === undefined) continue;
      this.queues.delete(source);
      this.queues.set(source, queue);
      return { queue, loaded };
    }
    return undefined;
  }

  /** Unloads all but the first `keep` deliveries of each queue; they remain on disk. */
  release(keep: number): void {
    for (const queue of this.queues.values()) queue.release(keep);
  }

  /** Drops the queue of the source. */
  leave(source: ClaimedSource): void {
    this.queues.get(source)?.abandon();
    this.queues.delete(source);
  }
}

/**
 * Endpoints that may have something to send, in turn. Healthy and unhealthy endpoints have a queue each, so that many
 * failing endpoints don't delay the others.
 */
export class ReadyEndpoints {
  readonly #healthy = new Fifo<Endpoint>();
  readonly #unhealthy = new Fifo<Endpoint>();
  readonly #queueOf = new Map<Endpoint, Fifo<Endpoint>>();
  #isUnhealthyNext = false;

  /** Adds the endpoint unless it is queued. An endpoint that has become healthy since moves to the other queue. */
  add(endpoint: Endpoint): void {
    const queue = endpoint.isHealthy ? this.#healthy : this.#unhealthy;
    const current = this.#queueOf.get(endpoint);
    if (current === queue || current === this.#healthy) return;
    this.#queueOf.set(endpoint, queue);
    queue.push(endpoint);
  }

  /** Takes the next endpoint, alternating between the queues; without `withUnhealthy` only a healthy one. */
  next(withUnhealthy: boolean): Endpoint | undefined {
    this.#isUnhealthyNext = !this.#isUnhealthyNext;
    const first = this.#isUnhealthyNext && withUnhealthy ? this.#shift(this.#unhealthy) : undefined;
    return first ?? this.#shift(this.#healthy) ?? (withUnhealthy ? this.#shift(this.#unhealthy) : undefined);
  }

  #shift(queue: Fifo<Endpoint>): Endpoint | undefined {
    for (let endpoint = queue.shift(); endpoint !== undefined; endpoint = queue.shift()) {
      // The endpoint has moved to the other queue.
      if (this.#queueOf.get(endpoint) !== queue) continue;
      this.#queueOf.delete(endpoint);
      return endpoint;
    }
    return undefined;
  }
}

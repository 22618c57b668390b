/** Who is next: webhooks that may have something to send, in turn. */
import type { Endpoint } from './endpoint.js';
import { Fifo } from './fifo.js';

/**
 * Two queues, of those that are trusted and of the others, so that many that fail don't stand before those that don't.
 */
export class ReadyEndpoints {
  readonly #trusted = new Fifo<Endpoint>();
  readonly #others = new Fifo<Endpoint>();
  readonly #queueOf = new Map<Endpoint, Fifo<Endpoint>>();
  #isTurnOfOthers = false;

  /** Once, however often it is added; one that has become trusted since moves over. */
  add(endpoint: Endpoint): void {
    const queue = endpoint.isTrusted ? this.#trusted : this.#others;
    const standsIn = this.#queueOf.get(endpoint);
    if (standsIn === queue || standsIn === this.#trusted) return;
    this.#queueOf.set(endpoint, queue);
    queue.push(endpoint);
  }

  /** From both queues by turns; without `withOthers` from that of the trusted only. */
  next(withOthers: boolean): Endpoint | undefined {
    this.#isTurnOfOthers = !this.#isTurnOfOthers;
    const first = this.#isTurnOfOthers && withOthers ? this.#shift(this.#others) : undefined;
    return first ?? this.#shift(this.#trusted) ?? (withOthers ? this.#shift(this.#others) : undefined);
  }

  #shift(queue: Fifo<Endpoint>): Endpoint | undefined {
    for (let endpoint = queue.shift(); endpoint !== undefined; endpoint = queue.shift()) {
      // One that has moved over stands in the other queue.
      if (this.#queueOf.get(endpoint) !== queue) continue;
      this.#queueOf.delete(endpoint);
      return endpoint;
    }
    return undefined;
  }
}

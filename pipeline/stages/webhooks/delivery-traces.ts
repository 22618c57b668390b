/**
 * Trace contexts of deliveries, from the record of their event to their attempts. They are kept in memory, for the
 * latest deliveries: a queued delivery has fixed bytes, and a trace that is hours old is of no use.
 */
import { createBoundedCache } from '../../../schemas/bounded-cache.js';
import type { Delivery } from '../../../schemas/records.js';
import type { Span, Tracing } from '../../tracing.js';

/** About 0.2 kB each. */
const maxKept = 10_000;

/** The trace contexts of the latest deliveries of this process. */
export class DeliveryTraces {
  readonly #tracing: Tracing;
  readonly #contexts = createBoundedCache<string, string>(maxKept);

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** Keeps the context of a delivery's first event. */
  keep(delivery: string, traceparent: string): void {
    this.#contexts.set(delivery, traceparent);
  }

  /** Starts the span of an attempt; undefined if the delivery has no context. */
  start({ id, webhook }: Delivery, url: string): Span | undefined {
    const parent = this.#contexts.get(id);
    if (parent === undefined) return undefined;
    const attributes = {
      'http.request.method': 'POST',
      'server.address': new URL(url).hostname,
      'fenceline.webhook': webhook,
      'fenceline.delivery': id,
    };
    return this.#tracing.start('deliver to webhook', { kind: 'client', parent, attributes });
  }
}

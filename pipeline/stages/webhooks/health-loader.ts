/** Loads a webhook's health and project before anything is sent to it. */
import { createBoundedCache } from '../../../schemas/bounded-cache.js';
import type { Codec } from '../../../schemas/codecs.js';
import type { Delivery } from '../../../schemas/records.js';
import type { Scope } from '../../catalog/types.js';
import type { DeliveryQueue } from '../../ports.js';
import type { Background } from '../background.js';
import type { Endpoint } from './endpoint.js';
import { Fifo } from './fifo.js';
import { type EndpointHealth, endpointHealthOf } from './health.js';

const maxConcurrentLoads = 16;
/** Webhooks whose health is cached while nothing is queued for them. */
const maxCached = 100_000;

interface HealthLoaderParts {
  readonly queue: Pick<DeliveryQueue, 'health'>;
  readonly codec: Codec<Delivery>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Called when health is loaded. `scope` is still unknown when nothing is queued for the webhook. */
  readonly onLoaded: (endpoint: Endpoint) => void;
  readonly background: Background;
}

/** Loads a few healths at a time, and caches those of the latest webhooks. */
export class HealthLoader {
  readonly #parts: HealthLoaderParts;
  readonly #cache = createBoundedCache<string, EndpointHealth>(maxCached);
  readonly #pending = new Fifo<Endpoint>();
  #running = 0;
  #isClosed = false;

  constructor(parts: HealthLoaderParts) {
    this.#parts = parts;
  }

  /** Sets the health at once if it is cached and the project known; else loads it in the background. */
  load(endpoint: Endpoint): void {
    const cached = this.#cache.get(endpoint.id);
    if (cached !== undefined && endpoint.scope !== undefined) {
      endpoint.health = cached;
      return;
    }
    this.#pending.push(endpoint);
    if (this.#running < maxConcurrentLoads) this.#parts.background.run(this.#run());
  }

  /** Starts no more loads. */
  close(): void {
    this.#isClosed = true;
  }

  async #run(): Promise<void> {
    this.#running += 1;
    while (!this.#isClosed) {
      const endpoint = this.#pending.shift();
      if (endpoint === undefined) break;
      await this.#read(endpoint);
      this.#parts.onLoaded(endpoint);
      // After a start there may be a hundred thousand: let other work run in between.
      if (this.#pending.size > 0) await new Promise(setImmediate);
    }
    this.#running -= 1;
  }

  async #read(endpoint: Endpoint): Promise<void> {
    const { queue, clock } = this.#parts;
    const scope = endpoint.scope ?? (await this.#scopeOf(endpoint));
    const health = this.#cache.get(endpoint.id) ?? endpointHealthOf(await queue.health(endpoint.id), clock());
    this.#cache.set(endpoint.id, health);
    endpoint.scope ??= scope;
    endpoint.health = health;
  }

  /** Reads project and environment from the first queued delivery. */
  async #scopeOf({ id, queues }: Endpoint): Promise<Scope | undefined> {
    for (const source of [...queues.keys()]) {
      const [first] = await source.waiting(id, 1);
      if (first === undefined) continue;
      const { project, environment } = this.#parts.codec.decode(first.value);
      return { project, environment };
    }
    return undefined;
  }
}

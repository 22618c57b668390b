/**
 * Reads what must be known of a webhook before anything is sent to it: how it has been doing, and which project it is
 * of.
 */
import { LRUCache } from 'lru-cache';
import type { Codec } from '../../../schemas/codecs.js';
import type { Delivery } from '../../../schemas/records.js';
import type { Scope } from '../../catalog/types.js';
import type { DeliveryQueue } from '../../ports.js';
import type { Background } from './background.js';
import type { Endpoint } from './endpoint.js';
import { Fifo } from './fifo.js';
import { type Condition, conditionOf } from './health.js';

const maxExaminedAtOnce = 16;
/** Webhooks whose condition is remembered while nothing waits for them. */
const maxRemembered = 100_000;

export interface ExaminerParts {
  readonly queue: Pick<DeliveryQueue, 'health'>;
  readonly codec: Codec<Delivery>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** `scope` is still unknown when nothing waits for the webhook. */
  readonly onExamined: (endpoint: Endpoint) => void;
  readonly background: Background;
}

export class Examiner {
  readonly #parts: ExaminerParts;
  readonly #conditions = new LRUCache<string, Condition>({ max: maxRemembered });
  readonly #waiting = new Fifo<Endpoint>();
  #running = 0;
  #isClosed = false;

  constructor(parts: ExaminerParts) {
    this.#parts = parts;
  }

  /** At once where the webhook is remembered and its project known. */
  examine(endpoint: Endpoint): void {
    const remembered = this.#conditions.get(endpoint.id);
    if (remembered !== undefined && endpoint.scope !== undefined) {
      endpoint.condition = remembered;
      return;
    }
    this.#waiting.push(endpoint);
    if (this.#running < maxExaminedAtOnce) this.#parts.background.run(this.#run());
  }

  /** Reads no more. */
  close(): void {
    this.#isClosed = true;
  }

  async #run(): Promise<void> {
    this.#running += 1;
    while (!this.#isClosed) {
      const endpoint = this.#waiting.shift();
      if (endpoint === undefined) break;
      await this.#read(endpoint);
      this.#parts.onExamined(endpoint);
      // After a start there may be a hundred thousand.
      if (this.#waiting.size > 0) await new Promise(setImmediate);
    }
    this.#running -= 1;
  }

  async #read(endpoint: Endpoint): Promise<void> {
    const { queue, clock } = this.#parts;
    const scope = endpoint.scope ?? (await this.#scopeOf(endpoint));
    const condition = this.#conditions.get(endpoint.id) ?? conditionOf(await queue.health(endpoint.id), clock());
    this.#conditions.set(endpoint.id, condition);
    endpoint.scope ??= scope;
    endpoint.condition = condition;
  }

  /** Of the first delivery that waits. */
  async #scopeOf({ id, lanes }: Endpoint): Promise<Scope | undefined> {
    for (const source of [...lanes.keys()]) {
      const [first] = await source.waiting(id, 1);
      if (first === undefined) continue;
      const { project, environment } = this.#parts.codec.decode(first.value);
      return { project, environment };
    }
    return undefined;
  }
}

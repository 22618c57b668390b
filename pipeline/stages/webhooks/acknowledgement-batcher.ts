/**
 * Puts tries on record and settles their deliveries, many at once.
 *
 * Flows in: ended tries, one by one. Flows out: topic `attempts`, durable first, and then the settlements in each
 * source's queue: a crash in between repeats a delivery, and forgets none.
 */
import type { Codec } from '../../../schemas/codecs.js';
import type { Attempt } from '../../../schemas/records.js';
import { type Log, type Settlement, topics } from '../../ports.js';
import type { Metrics } from '../metrics.js';
import type { Background } from './background.js';
import type { Endpoint, TakenDelivery } from './endpoint.js';
import { addTo } from './lists.js';
import type { Source } from './source.js';

/** Of one append. */
const maxBatchRecords = 500;
const maxBatchBytes = 8 * 2 ** 20;

export interface EndedDelivery extends TakenDelivery {
  readonly endpoint: Endpoint;
  readonly attempt: Attempt;
}

export interface SettlerParts {
  readonly log: Pick<Log, 'append'>;
  readonly codec: Codec<Attempt>;
  readonly metrics: Metrics;
  /** Told when they are written, or need not be any more because their source has gone to another. */
  readonly onSettled: (ended: readonly EndedDelivery[]) => void;
  readonly background: Background;
}

export class Settler {
  readonly #parts: SettlerParts;
  #waiting: EndedDelivery[] = [];
  #isRunning = false;
  #onFlushed: (() => void)[] = [];

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  add(ended: EndedDelivery): void {
    this.#waiting.push(ended);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#parts.background.run(this.#run());
  }

  /** Resolves when all that was added is written. */
  async flushed(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => this.#onFlushed.push(resolve));
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // What else ends in this turn of the event loop comes along.
      await new Promise(setImmediate);
      const batch = this.#nextBatch();
      await this.#record(batch);
      await this.#settle(batch);
      this.#parts.onSettled(batch);
    }
    this.#isRunning = false;
    for (const resolve of this.#onFlushed.splice(0)) resolve();
  }

  #nextBatch(): EndedDelivery[] {
    let bytes = 0;
    let count = 0;
    while (count < Math.min(this.#waiting.length, maxBatchRecords) && bytes < maxBatchBytes) {
      bytes += (this.#waiting[count] as EndedDelivery).attempt.delivery.body.length;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  async #record(batch: readonly EndedDelivery[]): Promise<void> {
    const { log, codec, metrics } = this.#parts;
    await log.append(
      topics.attempts,
      batch.map(({ endpoint, attempt }) => ({ key: endpoint.id, value: codec.encode(attempt) })),
    );
    const counts = new Map<string, number>();
    for (const { attempt } of batch) {
      counts.set(attempt.result, (counts.get(attempt.result) ?? 0) + 1);
      metrics.observe('webhook_attempt_ms', attempt.duration_ms);
    }
    for (const [result, count] of counts) metrics.add('webhook_attempts_total', count, result);
  }

  async #settle(batch: readonly EndedDelivery[]): Promise<void> {
    const bySource = new Map<Source, EndedDelivery[]>();
    for (const ended of batch) addTo(bySource, ended.lane.source, ended);
    await Promise.all([...bySource].map(([source, ended]) => settleIn(source, ended)));
  }
}

async function settleIn(source: Source, ended: readonly EndedDelivery[]): Promise<void> {
  if (await source.settle(ended.map(settlementOf))) {
    for (const { lane, held, attempt } of ended) lane.settled(held, attempt.nextAttemptAt);
  }
  source.end(ended.length);
}

const settlementOf = ({ held, attempt }: EndedDelivery): Settlement => ({
  place: held.place,
  next: attempt.nextAttemptAt === null ? null : { dueAtMs: attempt.nextAttemptAt, attempts: held.attempts + 1 },
});

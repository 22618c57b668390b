/**
 * Records attempts and acknowledges their deliveries, in batches.
 *
 * Input: ended attempts, one by one. Output: records of topic `attempts`, durable first, then the acknowledgements in
 * each source's queue. A crash in between repeats a delivery and loses none.
 */
import type { Codec } from '../../../schemas/codecs.js';
import { Condition } from '../../../schemas/condition.js';
import { groupedBy } from '../../../schemas/groups.js';
import type { Attempt } from '../../../schemas/records.js';
import { type Log, type Settlement, topics } from '../../ports.js';
import type { Background } from '../background.js';
import type { Metrics } from '../metrics.js';
import type { ClaimedSource } from './claimed-source.js';
import type { Endpoint, TakenDelivery } from './endpoint.js';

/** Bounds of one append. */
const maxBatchRecords = 500;
const maxBatchBytes = 8 * 2 ** 20;

/** A delivery whose attempt has ended and is not recorded yet. */
export interface EndedDelivery extends TakenDelivery {
  readonly endpoint: Endpoint;
  readonly attempt: Attempt;
  /** Time of the next attempt by the steady clock; null: none follows. */
  readonly nextDueAtMs: number | null;
}

interface AcknowledgementBatcherParts {
  readonly log: Pick<Log, 'append'>;
  readonly codec: Codec<Attempt>;
  readonly metrics: Metrics;
  /** Called when they are written, or when their source has another owner. */
  readonly onAcknowledged: (ended: readonly EndedDelivery[]) => void;
  readonly background: Background;
}

/** Writes one batch at a time; what ends meanwhile is the next one. */
export class AcknowledgementBatcher {
  readonly #parts: AcknowledgementBatcherParts;
  #pending: EndedDelivery[] = [];
  #isRunning = false;
  /** Deliveries added, and those of them that are acknowledged. Batches keep the order. */
  #added = 0;
  #acknowledged = 0;
  readonly #progress = new Condition();

  constructor(parts: AcknowledgementBatcherParts) {
    this.#parts = parts;
  }

  /** Adds an ended attempt. Its batch is written in the background. */
  add(ended: EndedDelivery): void {
    this.#pending.push(ended);
    this.#added += 1;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#parts.background.run(this.#run());
  }

  /** Resolves when everything added before the call is acknowledged, whatever is added afterwards. */
  async flushed(): Promise<void> {
    const added = this.#added;
    while (this.#acknowledged < added) await this.#progress.wait();
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) {
      // Attempts that end in the same turn of the event loop share a batch.
      await new Promise(setImmediate);
      const batch = this.#nextBatch();
      await this.#record(batch);
      await this.#acknowledge(batch);
      this.#parts.onAcknowledged(batch);
      this.#acknowledged += batch.length;
      this.#progress.notifyAll();
    }
    this.#isRunning = false;
  }

  #nextBatch(): EndedDelivery[] {
    let bytes = 0;
    let count = 0;
    while (count < Math.min(this.#pending.length, maxBatchRecords) && bytes < maxBatchBytes) {
      bytes += (this.#pending[count] as EndedDelivery).attempt.delivery.body.length;
      count += 1;
    }
    return this.#pending.splice(0, count);
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
      metrics.observe('webhook_attempt_seconds', attempt.duration_ms / 1_000);
    }
    for (const [result, count] of counts) metrics.add('webhook_attempts_total', count, result);
  }

  async #acknowledge(batch: readonly EndedDelivery[]): Promise<void> {
    const bySource = groupedBy(batch, ({ queue }) => queue.source);
    await Promise.all([...bySource].map(([source, ended]) => acknowledgeIn(source, ended)));
  }
}

async function acknowledgeIn(source: ClaimedSource, ended: readonly EndedDelivery[]): Promise<void> {
  if (await source.acknowledge(ended.map(acknowledgementOf))) {
    for (const { queue, loaded, nextDueAtMs } of ended) queue.acknowledged(loaded, nextDueAtMs);
  }
  source.end(ended.length);
}

const acknowledgementOf = ({ loaded, nextDueAtMs }: EndedDelivery): Settlement => ({
  place: loaded.place,
  next: nextDueAtMs === null ? null : { dueAtMs: nextDueAtMs, attempts: loaded.attempts + 1 },
});

/**
 * Follows one topic into the delivery queues: each batch of a partition becomes deliveries, which are queued together with the position after it,
 * and then offered to the dispatcher. A partition that somebody else has claimed meanwhile is claimed again, unless it has gone to another process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Codecs } from '../../../schemas/codecs.js';
import type { CommitResult, DeliveryQueue, DeliverySource, HandOverResult, Log, LogRecord, StreamHandler } from '../../ports.js';
import { Breaker, type TooManyDeadLetters } from '../breaker.js';
import { type BadRecord, bury } from '../dead-letters.js';
import { dueRecords } from '../due-records.js';
import type { Metrics } from '../metrics.js';
import type { Dispatcher } from './dispatcher.js';
import type { FanOut } from './fan-out.js';
import type { WebhookNotice } from './notices.js';
import type { IsRepeat } from './repeats.js';
import { Source } from './source.js';

export interface ConsumerParts {
  readonly topic: DeliverySource['topic'];
  readonly log: Log;
  readonly queue: DeliveryQueue;
  readonly dispatcher: Dispatcher;
  readonly fanOut: FanOut;
  /** Knows what the partition had before `nextOffset`. */
  readonly recall: (partition: number, nextOffset: number) => Promise<IsRepeat>;
  /** Lets a batch end where it may, given that it may have been cut. */
  readonly complete: (records: readonly LogRecord[]) => Promise<readonly LogRecord[]>;
  /** Resolves when the configuration shows every change that was acknowledged before the call. */
  readonly catchUp: () => Promise<void>;
  readonly codecs: Codecs;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly onNotice: (notice: WebhookNotice) => void;
  readonly onFailure: (error: unknown) => void;
  readonly maxBatchRecords: number;
  /** Refusals in a row after which the process gives up: two owners must be fighting over the partition. */
  readonly maxFencedTries: number;
  /** About so long is waited before a partition is claimed again. */
  readonly reclaimDelayMs: number;
  readonly maxDeadLetterShare: number;
}

/** A position that has only passed events nobody wants is written this often. */
const savePositionEveryMs = 1_000;

/** A partition that this process follows. */
interface Partition {
  readonly breaker: Breaker;
  /** Whether the log still counts it as this process's. */
  readonly isOurs: () => boolean;
  source: Source;
  isRepeat: IsRepeat;
  claiming: Promise<void> | undefined;
  savedAtMs: number;
}

export class DeliveryConsumer implements StreamHandler {
  readonly #parts: ConsumerParts;
  readonly #partitions = new Map<number, Partition>();

  constructor(parts: ConsumerParts) {
    this.#parts = parts;
  }

  get topic(): DeliverySource['topic'] {
    return this.#parts.topic;
  }

  async assigned(number: number, isOurs: () => boolean): Promise<number> {
    const source = await this.#claim(number, 0);
    const { clock, maxDeadLetterShare, recall } = this.#parts;
    const isRepeat = await recall(number, source.nextOffset);
    const breaker = new Breaker(maxDeadLetterShare);
    this.#partitions.set(number, { breaker, isOurs, source, isRepeat, claiming: undefined, savedAtMs: clock() });
    return source.nextOffset;
  }

  async records(number: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    const { log, topic, maxBatchRecords } = this.#parts;
    const end = (records.at(-1) as LogRecord).offset + 1;
    const partition = this.#partitions.get(number);
    // A partition that is not here has left for another process.
    while (partition !== undefined && partition.source.nextOffset < end) {
      const { source } = partition;
      const due = await dueRecords(log, topic, source.nextOffset, records, maxBatchRecords);
      const result = await this.#take(partition, source, due);
      if (result === 'halted') return result;
      if (result === 'committed') continue;
      await this.#claimAgain(partition, source);
      if (!partition.source.isOurs) return;
    }
  }

  async revoked(number: number): Promise<void> {
    const partition = this.#partitions.get(number);
    if (partition === undefined) return;
    await partition.claiming;
    this.#partitions.delete(number);
    const { source } = partition;
    this.#parts.dispatcher.detach(source);
    await source.drained();
    await source.savePosition(this.#parts.clock());
    source.letGo();
  }

  /** When fenced, nothing of the chunk that was is queued; when halted, nothing at all. */
  async #take(partition: Partition, source: Source, records: readonly LogRecord[]): Promise<CommitResult | 'halted'> {
    const { complete, fanOut, catchUp, dispatcher, clock, metrics } = this.#parts;
    // After the batch was fetched, so that an event appended after a webhook was written finds it.
    const [whole] = await Promise.all([complete(records), catchUp()]);
    const { bad, chunks } = await fanOut(whole, partition.isRepeat);
    const tooMany = partition.breaker.pass(whole, bad);
    if (tooMany !== undefined) return this.#halt(source, tooMany);
    await this.#setAside(bad);
    for (const { made, nextOffset } of chunks) {
      if (made.length === 0) {
        source.pass(nextOffset);
        continue;
      }
      const held = await source.add(made, nextOffset, clock());
      if (held === undefined) return 'fenced';
      metrics.add('webhook_deliveries_total', made.length);
      dispatcher.offer(source, held);
    }
    return (await this.#savePosition(partition, source)) ? 'committed' : 'fenced';
  }

  #halt({ id: { partition } }: Source, tooMany: TooManyDeadLetters): 'halted' {
    const { topic, metrics, onNotice } = this.#parts;
    metrics.add('partitions_halted_total', 1, topic);
    onNotice({ kind: 'halted', topic, partition, ...tooMany });
    return 'halted';
  }

  /** Now and then; false when refused. */
  async #savePosition(partition: Partition, source: Source): Promise<boolean> {
    const nowMs = this.#parts.clock();
    if (nowMs - partition.savedAtMs < savePositionEveryMs) return true;
    partition.savedAtMs = nowMs;
    return source.savePosition(nowMs);
  }

  async #setAside(bad: readonly BadRecord[]): Promise<void> {
    const { topic, onNotice } = this.#parts;
    const latest = bad.at(-1);
    if (latest === undefined) return;
    await bury({ ...this.#parts, codec: this.#parts.codecs.deadLetter }, bad);
    const { partition, offset } = latest.record;
    const { reason, message } = latest;
    onNotice({ kind: 'dead_letters', topic, partition, count: bad.length, offset, reason, message });
  }

  async #claim(partition: number, refusals: number): Promise<Source> {
    const { topic, queue, catchUp, dispatcher, onFailure } = this.#parts;
    const claim = await queue.claim({ topic, partition });
    // Deliveries to a webhook that isn't known count as to one that was deleted.
    await catchUp();
    const onRefused = (source: Source): void => {
      const owned = this.#partitions.get(partition);
      if (owned !== undefined) this.#claimAgain(owned, source).catch(onFailure);
    };
    const source = new Source(queue, claim, refusals, onRefused);
    dispatcher.attach(source, await queue.webhooks(source.id));
    return source;
  }

  /** Once for all who were refused with the same claim. */
  async #claimAgain(partition: Partition, refused: Source): Promise<void> {
    if (partition.source !== refused) return;
    partition.claiming ??= this.#replace(partition).finally(() => {
      partition.claiming = undefined;
    });
    await partition.claiming;
  }

  async #replace(partition: Partition): Promise<void> {
    const { dispatcher, metrics, onNotice, recall, maxFencedTries, reclaimDelayMs } = this.#parts;
    const { id, nextOffset } = partition.source;
    const refusals = partition.source.hasWritten ? 1 : partition.source.refusals + 1;
    dispatcher.detach(partition.source);
    metrics.add('webhook_partitions_fenced_total', 1);
    onNotice({ kind: 'fenced', ...id, nextOffset });
    if (refusals === maxFencedTries) {
      throw new Error(`partition ${id.partition} of ${id.topic} was claimed by others ${refusals} times in a row`);
    }
    // Who was paused for long is refused before it hears that the partition has gone to another, whom a claim of ours would disturb.
    await delay(reclaimDelayMs * (0.5 + Math.random()));
    if (!partition.isOurs()) return;
    const source = await this.#claim(id.partition, refusals);
    partition.isRepeat = await recall(id.partition, source.nextOffset);
    partition.source = source;
  }
}

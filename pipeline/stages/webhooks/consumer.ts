/**
 * Follows one topic into the delivery queues: each batch of a partition becomes deliveries, which are queued together
 * with the position after it, and then offered to the dispatcher. A partition that somebody else has claimed meanwhile
 * is claimed again, unless it has gone to another process.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Codecs } from '../../../schemas/codecs.js';
import type {
  ClaimState,
  CommitResult,
  DeliveryQueue,
  DeliverySource,
  Divergence,
  HandOverResult,
  Log,
  LogRecord,
  Position,
  StreamHandler,
} from '../../ports.js';
import { describeDivergence, findDivergence, markOf } from '../../positions.js';
import type { BadRecord } from '../../records/decode.js';
import { Breaker, type TooManyDeadLetters } from '../breaker.js';
import { claimReplaced } from '../claim-watch.js';
import { bury } from '../dead-letters.js';
import { dueRecords, missedRecords } from '../due-records.js';
import type { Metrics } from '../metrics.js';
import { PartitionMutex } from '../partition-mutex.js';
import type { WebhookNotice } from './alerts.js';
import type { Dispatcher } from './dispatcher.js';
import type { FanOut } from './fan-out.js';
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
  /** The log is not the one that was read: nothing is made of it until the position is repaired. */
  isDiverged: boolean;
}

/** The position at `nextOffset`, after some of the records. */
function positionAt(nextOffset: number, records: readonly LogRecord[]): Position {
  const before = records.findLast(({ offset }) => offset < nextOffset);
  return { offset: nextOffset, mark: before === undefined ? null : markOf(before) };
}

export class DeliveryConsumer implements StreamHandler {
  readonly #parts: ConsumerParts;
  readonly #partitions = new Map<number, Partition>();
  readonly #mutex = new PartitionMutex();

  constructor(parts: ConsumerParts) {
    this.#parts = parts;
  }

  get topic(): DeliverySource['topic'] {
    return this.#parts.topic;
  }

  async assigned(number: number, isOurs: () => boolean): Promise<Position> {
    const source = await this.#claim(number, 0);
    const { clock, maxDeadLetterShare, recall } = this.#parts;
    const isRepeat = await recall(number, source.nextOffset);
    const breaker = new Breaker(maxDeadLetterShare);
    this.#partitions.set(number, {
      breaker,
      isOurs,
      source,
      isRepeat,
      claiming: undefined,
      savedAtMs: clock(),
      isDiverged: false,
    });
    return source.position;
  }

  records(number: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    return this.#mutex.take(number, () => this.#takeAll(number, records));
  }

  /** Waits until somebody has moved the position. What waits in the queue goes on. */
  diverged(number: number, divergence: Divergence): Promise<Position> {
    return this.#mutex.take(number, () => this.#repaired(number, divergence));
  }

  /** Compares the claims of partitions that no records come of. */
  async verifyClaims(): Promise<void> {
    const { queue } = this.#parts;
    const idle = [...this.#partitions].filter(
      ([number, { isDiverged, isOurs }]) => !isDiverged && isOurs() && !this.#mutex.isTaken(number),
    );
    const sources = idle.map(([, { source }]) => source);
    const found = await queue.verify(sources.map(({ claim }) => claim));
    await Promise.all(
      idle.map(async ([number, partition], index) => {
        const state = found[index] as ClaimState;
        if (state === 'held' || state === 'unknown') return;
        await this.#mutex.take(number, () => this.#recover(partition, sources[index] as Source, state));
      }),
    );
  }

  async #repaired(number: number, divergence: Divergence): Promise<Position> {
    const partition = this.#partitions.get(number);
    if (partition === undefined) return divergence.position;
    const { topic, queue, dispatcher, metrics, onNotice, recall } = this.#parts;
    const { source, isOurs } = partition;
    onNotice({ kind: 'diverged', topic, partition: number, message: describeDivergence(divergence) });
    metrics.add('partitions_diverged', 1, topic);
    partition.isDiverged = true;
    try {
      const isStillOurs = () => isOurs() && this.#partitions.get(number) === partition;
      const isReplaced = await claimReplaced(
        async () => (await queue.verify([source.claim]))[0] as ClaimState,
        isStillOurs,
      );
      if (!isReplaced) return divergence.position;
      dispatcher.detach(source);
      partition.source = await this.#claim(number, 0);
      partition.isRepeat = await recall(number, partition.source.nextOffset);
      return partition.source.position;
    } finally {
      partition.isDiverged = false;
      metrics.add('partitions_diverged', -1, topic);
    }
  }

  /** Claims the partition anew, and makes again at once what the queue has forgotten. */
  async #recover(partition: Partition, lost: Source, state: 'claimed' | 'fallen_back'): Promise<void> {
    const { log, topic, maxBatchRecords } = this.#parts;
    const number = lost.id.partition;
    const end = lost.nextOffset;
    if (this.#partitions.get(number) !== partition || !partition.isOurs()) return;
    await this.#claimAgain(partition, lost, state);
    while (this.#partitions.get(number) === partition && partition.source.isOurs && partition.source.nextOffset < end) {
      const { source } = partition;
      const missed = await missedRecords(log, topic, number, { from: source.nextOffset, end }, maxBatchRecords);
      if (missed.length === 0) return;
      const result = await this.#take(partition, source, missed);
      if (result === 'halted') return;
      if (result === 'fenced') await this.#claimAgain(partition, source);
    }
  }

  async #takeAll(number: number, records: readonly LogRecord[]): Promise<HandOverResult> {
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
      const position = positionAt(nextOffset, whole);
      if (made.length === 0) {
        source.pass(position);
        continue;
      }
      const held = await source.add(made, position, clock());
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
      // A later owner, or a queue that fell back: then what it has forgotten is to be made again, whether or not
      // another record comes.
      if (owned !== undefined)
        this.#mutex.take(partition, () => this.#recover(owned, source, 'claimed')).catch(onFailure);
    };
    const source = new Source(queue, claim, refusals, onRefused);
    dispatcher.attach(source, await queue.webhooks(source.id));
    return source;
  }

  /** Once for all who were refused with the same claim. */
  async #claimAgain(
    partition: Partition,
    refused: Source,
    state: 'claimed' | 'fallen_back' = 'claimed',
  ): Promise<void> {
    if (partition.source !== refused) return;
    partition.claiming ??= this.#replace(partition, state).finally(() => {
      partition.claiming = undefined;
    });
    await partition.claiming;
  }

  async #replace(partition: Partition, state: 'claimed' | 'fallen_back'): Promise<void> {
    const { log, dispatcher, metrics, onNotice, recall, maxFencedTries, reclaimDelayMs } = this.#parts;
    const { id, nextOffset } = partition.source;
    const refusals = partition.source.hasWritten ? 1 : partition.source.refusals + 1;
    dispatcher.detach(partition.source);
    metrics.add('webhook_partitions_fenced_total', 1);
    onNotice({ kind: state === 'fallen_back' ? state : 'fenced', ...id, nextOffset });
    if (refusals === maxFencedTries) {
      throw new Error(`partition ${id.partition} of ${id.topic} was claimed by others ${refusals} times in a row`);
    }
    // Who was paused for long is refused before it hears that the partition has gone to another, whom a claim of ours
    // would disturb.
    if (state === 'claimed') await delay(reclaimDelayMs * (0.5 + Math.random()));
    if (!partition.isOurs()) return;
    const source = await this.#claim(id.partition, refusals);
    const divergence = await findDivergence(log, id.topic, id.partition, source.position);
    // In the middle of work; the log compares only what `assigned` answers. The next process halts the partition.
    if (divergence !== undefined) throw new Error(describeDivergence(divergence));
    partition.isRepeat = await recall(id.partition, source.nextOffset);
    partition.source = source;
  }
}

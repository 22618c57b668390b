/**
 * Consumes one topic into the delivery queues. Each batch of a partition becomes deliveries, which are queued together
 * with the position after it and then offered to the dispatcher. A partition that another process has claimed is
 * claimed again, unless it was assigned to that process.
 */
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
import { describeDivergence, findDivergence, isSamePosition, markOf } from '../../positions.js';
import type { BadRecord } from '../../records/decode.js';
import { Breaker, type TooManyDeadLetters } from '../breaker.js';
import { claimReplaced } from '../claim-watch.js';
import { appendDeadLetters } from '../dead-letters.js';
import { dueRecords, missedRecords } from '../due-records.js';
import type { Metrics } from '../metrics.js';
import { PartitionMutex } from '../partition-mutex.js';
import { type ReclaimBounds, waitBeforeReclaim } from '../reclaim.js';
import type { WebhookAlert } from './alerts.js';
import { ClaimedSource } from './claimed-source.js';
import type { Dispatcher } from './dispatcher.js';
import type { IsDuplicate } from './event-reader.js';
import type { Chunk, FanOut } from './fan-out.js';
import type { PartialPosition } from './partial-position.js';

export interface ConsumerParts extends ReclaimBounds {
  readonly topic: DeliverySource['topic'];
  readonly log: Log;
  readonly queue: DeliveryQueue;
  readonly dispatcher: Dispatcher;
  readonly fanOut: FanOut;
  /** Creates a filter that knows the events before `nextOffset`. */
  readonly loadDuplicateFilter: (partition: number, nextOffset: number) => Promise<IsDuplicate>;
  /** Extends a batch that may have been cut, so that it ends where a batch may end. */
  readonly completeBatch: (records: readonly LogRecord[]) => Promise<readonly LogRecord[]>;
  /** Resolves when the read model shows every change acknowledged before the call. */
  readonly catchUp: () => Promise<void>;
  readonly codecs: Codecs;
  /** Epoch ms. */
  readonly clock: () => number;
  /** As of `createSteadyClock`; due times are by it. */
  readonly steadyClock: () => number;
  readonly metrics: Metrics;
  readonly onAlert: (alert: WebhookAlert) => void;
  readonly onFailure: (error: unknown) => void;
  readonly maxBatchRecords: number;
  readonly maxDeadLetterShare: number;
}

/** How often a position is written if it only passed events that no webhook wants. */
const savePositionEveryMs = 1_000;

/** A partition that this process consumes. */
interface Partition {
  readonly breaker: Breaker;
  /** Returns whether the log still assigns the partition to this process. */
  readonly isAssigned: () => boolean;
  source: ClaimedSource;
  isDuplicate: IsDuplicate;
  /** By the steady clock. */
  savedAtMs: number;
  /** The log is not the one that was read; the partition is halted until its position is repaired. */
  isDiverged: boolean;
}

/** Returns the position at the end of a chunk of the records, which begin at the position `from`. */
function positionAt({ nextOffset, queued }: Chunk, records: readonly LogRecord[], from: Position): PartialPosition {
  const before = records.findLast(({ offset }) => offset < nextOffset);
  return { offset: nextOffset, mark: before === undefined ? from.mark : markOf(before), queued };
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

  async assigned(number: number, isAssigned: () => boolean): Promise<Position> {
    const source = await this.#claim(number, 0);
    const { steadyClock, maxDeadLetterShare, loadDuplicateFilter } = this.#parts;
    const isDuplicate = await loadDuplicateFilter(number, source.nextOffset);
    const breaker = new Breaker(maxDeadLetterShare);
    this.#partitions.set(number, {
      breaker,
      isAssigned,
      source,
      isDuplicate,
      savedAtMs: steadyClock(),
      isDiverged: false,
    });
    return source.position;
  }

  records(number: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    return this.#mutex.run(number, () => this.#fanOutAll(number, records));
  }

  /** Waits until the position was repaired. Queued deliveries continue. */
  diverged(number: number, divergence: Divergence): Promise<Position> {
    return this.#mutex.run(number, () => this.#waitForRepair(number, divergence));
  }

  /** Verifies the claims of idle partitions, and writes positions that only passed events that no webhook wants. */
  async verifyClaims(): Promise<void> {
    const { queue } = this.#parts;
    const idle = [...this.#partitions].filter(
      ([number, { isDiverged, isAssigned }]) => !isDiverged && isAssigned() && !this.#mutex.isLocked(number),
    );
    const sources = idle.map(([, { source }]) => source);
    const found = await queue.verify(sources.map(({ claim }) => claim));
    await Promise.all(
      idle.map(async ([number, partition], index) => {
        const state = found[index] as ClaimState;
        if (state === 'held') await this.#mutex.run(number, () => this.#savePosition(partition, partition.source));
        if (state === 'held' || state === 'unknown') return;
        await this.#mutex.run(number, () => this.#recover(partition, sources[index] as ClaimedSource, state));
      }),
    );
  }

  async #waitForRepair(number: number, divergence: Divergence): Promise<Position> {
    const partition = this.#partitions.get(number);
    if (partition === undefined) return divergence.position;
    const { topic, queue, dispatcher, metrics, onAlert, loadDuplicateFilter } = this.#parts;
    const { source, isAssigned } = partition;
    // The position was repaired while the log compared it, and the partition was claimed again. Nobody would replace
    // that claim.
    if (!isSamePosition(source.position, divergence.position)) return source.position;
    onAlert({ kind: 'diverged', topic, partition: number, message: describeDivergence(divergence) });
    metrics.add('partitions_diverged', 1, topic);
    partition.isDiverged = true;
    try {
      const isStillAssigned = () => isAssigned() && this.#partitions.get(number) === partition;
      const isReplaced = await claimReplaced(
        async () => (await queue.verify([source.claim]))[0] as ClaimState,
        isStillAssigned,
      );
      if (!isReplaced) return divergence.position;
      dispatcher.detach(source);
      partition.source = await this.#claim(number, 0);
      partition.isDuplicate = await loadDuplicateFilter(number, partition.source.nextOffset);
      return partition.source.position;
    } finally {
      partition.isDiverged = false;
      metrics.add('partitions_diverged', -1, topic);
    }
  }

  /** Reclaims the partition, and makes lost deliveries again at once. */
  async #recover(partition: Partition, lost: ClaimedSource, state: 'claimed' | 'fallen_back'): Promise<void> {
    const { log, topic, maxBatchRecords } = this.#parts;
    const number = lost.id.partition;
    const end = lost.nextOffset;
    if (this.#partitions.get(number) !== partition || !partition.isAssigned()) return;
    await this.#reclaim(partition, lost, state);
    while (
      this.#partitions.get(number) === partition &&
      partition.source.isOwned &&
      partition.source.nextOffset < end
    ) {
      const { source } = partition;
      const missed = await missedRecords(log, topic, number, { from: source.nextOffset, end }, maxBatchRecords);
      if (missed.length === 0) return;
      const result = await this.#fanOut(partition, source, missed);
      if (result === 'halted') return;
      if (result === 'fenced') await this.#reclaim(partition, source);
    }
  }

  async #fanOutAll(number: number, records: readonly LogRecord[]): Promise<HandOverResult> {
    const { log, topic, maxBatchRecords } = this.#parts;
    const end = (records.at(-1) as LogRecord).offset + 1;
    const partition = this.#partitions.get(number);
    // A partition that is missing here was assigned to another process.
    while (partition !== undefined && partition.source.nextOffset < end) {
      const { source } = partition;
      const due = await dueRecords(log, topic, source.nextOffset, records, maxBatchRecords);
      const result = await this.#fanOut(partition, source, due);
      if (result === 'halted') return result;
      if (result === 'committed') continue;
      await this.#reclaim(partition, source);
      if (!partition.source.isOwned) return;
    }
  }

  async revoked(number: number): Promise<void> {
    const partition = this.#partitions.get(number);
    if (partition === undefined) return;
    // A recovery in progress ends with its current batch.
    this.#partitions.delete(number);
    // After it: what it offers to the dispatcher once the source is detached would be sent beside the next owner.
    await this.#mutex.run(number, async () => {
      const { source } = partition;
      this.#parts.dispatcher.detach(source);
      await source.drained();
      await source.savePosition(this.#parts.steadyClock());
      source.release();
    });
  }

  /** Fans out one batch. When fenced, the refused chunk is not queued; when halted, nothing is. */
  async #fanOut(
    partition: Partition,
    source: ClaimedSource,
    records: readonly LogRecord[],
  ): Promise<CommitResult | 'halted'> {
    const { completeBatch, fanOut, catchUp, dispatcher, steadyClock, metrics } = this.#parts;
    // Runs after the batch was fetched, so that an event appended after a webhook was saved reaches it.
    const [whole] = await Promise.all([completeBatch(records), catchUp()]);
    const start = source.position;
    const { bad, chunks } = await fanOut(whole, partition.isDuplicate, source.queued);
    const tooMany = partition.breaker.pass(whole, bad);
    if (tooMany !== undefined) return this.#halt(source, tooMany);
    await this.#deadLetter(bad);
    for (const chunk of chunks) {
      const { made } = chunk;
      const position = positionAt(chunk, whole, start);
      if (made.length === 0) {
        source.pass(position);
        continue;
      }
      const loaded = await source.add(made, position, steadyClock());
      if (loaded === undefined) return 'fenced';
      metrics.add('webhook_deliveries_total', made.length);
      dispatcher.offer(source, loaded);
    }
    return (await this.#savePosition(partition, source)) ? 'committed' : 'fenced';
  }

  #halt({ id: { partition } }: ClaimedSource, tooMany: TooManyDeadLetters): 'halted' {
    const { topic, metrics, onAlert } = this.#parts;
    metrics.add('partitions_halted_total', 1, topic);
    onAlert({ kind: 'halted', topic, partition, ...tooMany });
    return 'halted';
  }

  /** Writes the position once in a while. Returns false when fenced. */
  async #savePosition(partition: Partition, source: ClaimedSource): Promise<boolean> {
    const nowMs = this.#parts.steadyClock();
    if (nowMs < partition.savedAtMs + savePositionEveryMs) return true;
    partition.savedAtMs = nowMs;
    return source.savePosition(nowMs);
  }

  async #deadLetter(bad: readonly BadRecord[]): Promise<void> {
    const { topic, onAlert } = this.#parts;
    const latest = bad.at(-1);
    if (latest === undefined) return;
    await appendDeadLetters({ ...this.#parts, codec: this.#parts.codecs.deadLetter }, bad);
    const { partition, offset } = latest.record;
    const { reason, message } = latest;
    onAlert({ kind: 'dead_letters', topic, partition, count: bad.length, offset, reason, message });
  }

  async #claim(partition: number, refusals: number): Promise<ClaimedSource> {
    const { topic, queue, catchUp, dispatcher, onFailure } = this.#parts;
    const claim = await queue.claim({ topic, partition });
    // Deliveries to an unknown webhook are dropped as if it was deleted, so the read model must be current.
    await catchUp();
    const onRefused = (source: ClaimedSource): void => {
      const owned = this.#partitions.get(partition);
      // There is a later owner, or the queue fell back and lost deliveries: recover without waiting for a record.
      if (owned !== undefined)
        this.#mutex.run(partition, () => this.#recover(owned, source, 'claimed')).catch(onFailure);
    };
    const source = new ClaimedSource(queue, claim, refusals, onRefused);
    dispatcher.attach(source, await queue.webhooks(source.id));
    return source;
  }

  /** Reclaims the partition, unless that was done since the refusal: several writes of a claim may be refused. */
  async #reclaim(
    partition: Partition,
    refused: ClaimedSource,
    state: 'claimed' | 'fallen_back' = 'claimed',
  ): Promise<void> {
    if (partition.source !== refused) return;
    const { log, dispatcher, metrics, onAlert, loadDuplicateFilter, maxFencedAttempts } = this.#parts;
    const { id, nextOffset } = refused;
    const refusals = refused.hasWritten ? 1 : refused.refusals + 1;
    dispatcher.detach(refused);
    metrics.add('webhook_partitions_fenced_total', 1);
    onAlert({ kind: state === 'fallen_back' ? state : 'fenced', ...id, nextOffset });
    if (refusals === maxFencedAttempts) {
      throw new Error(`partition ${id.partition} of ${id.topic} was claimed by others ${refusals} times in a row`);
    }
    if (state === 'claimed') await waitBeforeReclaim(this.#parts);
    if (!partition.isAssigned()) return;
    const source = await this.#claim(id.partition, refusals);
    const divergence = await findDivergence(log, id.topic, id.partition, source.position);
    // The log compares positions on assignment only. End the process: the next one halts the partition.
    if (divergence !== undefined) throw new Error(describeDivergence(divergence));
    partition.isDuplicate = await loadDuplicateFilter(id.partition, source.nextOffset);
    partition.source = source;
  }
}

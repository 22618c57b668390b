/**
 * Consumes one topic into the delivery queues. Each batch of a partition becomes deliveries, which are queued together
 * with the position after it and then offered to the dispatcher. Queued deliveries continue while their partition is
 * halted.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import type { CommitResult, DeliveryQueue, DeliverySource, Log, LogRecord, Position } from '../../ports.js';
import { markOf } from '../../positions.js';
import { Breaker } from '../breaker.js';
import { ClaimedPartitions, type Owner, type ReclaimBounds } from '../claimed-partitions.js';
import { appendDeadLetters } from '../dead-letters.js';
import type { Metrics } from '../metrics.js';
import { createClaimedPartitionAlerts, type PartitionAlert } from '../partition-alerts.js';
import { ClaimedSource } from './claimed-source.js';
import type { Dispatcher } from './dispatcher.js';
import type { IsDuplicate } from './event-reader.js';
import type { Chunk, FanOut } from './fan-out.js';
import type { PartialPosition } from './partial-position.js';

interface ConsumerParts extends ReclaimBounds {
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
  readonly onAlert: (alert: PartitionAlert) => void;
  readonly onFailure: (error: unknown) => void;
  readonly maxBatchRecords: number;
  readonly maxDeadLetterShare: number;
}

/** How often a position is written if it only passed events that no webhook wants. */
const savePositionEveryMs = 1_000;

/** The claim on one partition's deliveries, with what its fan-out needs. */
class DeliveryOwner implements Owner {
  readonly source: ClaimedSource;
  readonly isDuplicate: IsDuplicate;
  readonly breaker: Breaker;
  /** By the steady clock. */
  #savedAtMs: number;

  constructor(source: ClaimedSource, isDuplicate: IsDuplicate, breaker: Breaker, nowMs: number) {
    this.source = source;
    this.isDuplicate = isDuplicate;
    this.breaker = breaker;
    this.#savedAtMs = nowMs;
  }

  get position(): Position {
    return this.source.position;
  }

  get hasWritten(): boolean {
    return this.source.hasWritten;
  }

  /** Writes the position once in a while. Returns false when fenced. */
  async savePosition(nowMs: number): Promise<boolean> {
    if (nowMs < this.#savedAtMs + savePositionEveryMs) return true;
    this.#savedAtMs = nowMs;
    return this.source.savePosition(nowMs);
  }
}

/** Returns the position at the end of a chunk of the records, which begin at the position `from`. */
function positionAt({ nextOffset, queued }: Chunk, records: readonly LogRecord[], from: Position): PartialPosition {
  const before = records.findLast(({ offset }) => offset < nextOffset);
  return { offset: nextOffset, mark: before === undefined ? from.mark : markOf(before), queued };
}

/** Creates the handler of the topic's records. Its claims must be verified, as in {@link ClaimedPartitions}. */
export function createDeliveryConsumer(parts: ConsumerParts): ClaimedPartitions<DeliveryOwner> {
  const { topic, queue, dispatcher, steadyClock, catchUp, metrics, onAlert } = parts;
  const fencedCounter = 'webhook_partitions_fenced_total';
  const alerts = createClaimedPartitionAlerts({ topic, metrics, onAlert, fencedCounter });

  async function claim(partition: number): Promise<DeliveryOwner> {
    const claimed = await queue.claim({ topic, partition });
    // Deliveries to an unknown webhook are dropped as if it was deleted, so the read model must be current.
    await catchUp();
    // There is a later owner, or the queue fell back and lost deliveries: recover without waiting for a record.
    const onRefused = () => void partitions.recover(partition, owner, 'claimed').catch(parts.onFailure);
    const source = new ClaimedSource(queue, claimed, onRefused);
    const isDuplicate = await parts.loadDuplicateFilter(partition, source.nextOffset);
    const owner = new DeliveryOwner(source, isDuplicate, new Breaker(parts.maxDeadLetterShare), steadyClock());
    dispatcher.attach(source, await queue.webhooks(source.id));
    return owner;
  }

  /** Fans out one batch. When fenced, the refused chunk is not queued; when halted, nothing is. */
  async function fanOut(owner: DeliveryOwner, records: readonly LogRecord[]): Promise<CommitResult | 'halted'> {
    const { source } = owner;
    // Runs after the batch was fetched, so that an event appended after a webhook was saved reaches it.
    const [whole] = await Promise.all([parts.completeBatch(records), catchUp()]);
    const start = source.position;
    const { bad, chunks } = await parts.fanOut(whole, owner.isDuplicate, source.queued);
    const tooMany = owner.breaker.pass(whole, bad);
    if (tooMany !== undefined) {
      alerts.halted(source.id.partition, tooMany);
      return 'halted';
    }
    if (bad.length > 0) await appendDeadLetters({ ...parts, codec: parts.codecs.deadLetter }, bad);
    alerts.deadLettered(bad);
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
    return (await owner.savePosition(steadyClock())) ? 'committed' : 'fenced';
  }

  async function release({ source }: DeliveryOwner): Promise<void> {
    dispatcher.detach(source);
    await source.drained();
    await source.savePosition(steadyClock());
    source.release();
  }

  const partitions = new ClaimedPartitions<DeliveryOwner>({
    ...parts,
    alerts,
    claim,
    verify: (owners) => queue.verify(owners.map(({ source }) => source.claim)),
    apply: fanOut,
    pass(owner, position) {
      owner.source.pass({ ...position, queued: null });
      return owner.savePosition(steadyClock());
    },
    // Positions may only have passed events that no webhook wants.
    idle: (owner) => owner.savePosition(steadyClock()),
    abandon: ({ source }) => dispatcher.detach(source),
    release,
  });
  return partitions;
}

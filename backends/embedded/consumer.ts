/** A subscription: an independent loop per partition that reads records, hands them over, and waits for more. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ConsumeOptions, type Log, type Subscription, topics } from '../../pipeline/ports.js';
import { asPosition, findDivergence } from '../../pipeline/positions.js';
import { Condition } from '../../schemas/condition.js';
import { subscriptionOf } from '../subscription.js';
import type { TopicStore } from './topic-store.js';
import type { Wakeups } from './wakeups.js';

/** Polling interval, for missed wake-ups and for appends of other processes. */
const pollMs = 200;

interface ConsumerOptions extends ConsumeOptions {
  readonly store: TopicStore;
  readonly wakeups: Wakeups;
  /** The same log, for reads at any offset. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
}

/** Starts to consume until the caller closes the subscription. Its `done` rejects when the handler does. */
export function startConsumer(options: ConsumerOptions): Subscription {
  const { store, log, handler, maxBatchRecords, maxWaitMs } = options;
  /** Notified when the topic may have grown, and on close. */
  const changed = new Condition();
  /** Always true: no other consumer can take a partition. */
  const isOurs = () => true;
  let closing = false;
  const stopListening = options.wakeups.listen(options.topic, () => changed.notifyAll());

  function available(partition: number, offset: number): number {
    store.environment.refresh();
    return store.end(partition) - offset;
  }

  /** Resolves when a batch is complete, when its first record has waited for `maxWaitMs`, or on close. */
  async function batchReady(partition: number, offset: number): Promise<void> {
    while (!closing && available(partition, offset) <= 0) await changed.wait({ maxMs: pollMs });
    const deadlineMs = performance.now() + maxWaitMs;
    while (!closing && available(partition, offset) < maxBatchRecords) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return;
      await changed.wait({ maxMs: leftMs });
    }
  }

  async function closed(): Promise<undefined> {
    while (!closing) await changed.wait({ maxMs: pollMs });
    return undefined;
  }

  /**
   * Returns the offset to start from; undefined when the log is another one and the subscription closes before the
   * handler returns a position. The log is verified only here, because its files can't be replaced while they are open.
   */
  async function startOf(partition: number): Promise<number | undefined> {
    let position = asPosition(await handler.assigned(partition, isOurs));
    if (handler.diverged === undefined) return position.offset;
    while (!closing) {
      const divergence = await findDivergence(log, options.topic, partition, position, { beyondEndMs: 0 });
      if (divergence === undefined) return position.offset;
      const next = await Promise.race([handler.diverged(partition, divergence), closed()]);
      if (next !== undefined) position = asPosition(next);
    }
    return undefined;
  }

  /** Compaction also removes records, of which later ones exist. */
  function reportExpired(partition: number, offset: number): void {
    if (options.topic === topics.changes || offset === 0) return;
    const end = Math.min(store.first(partition), store.end(partition));
    if (end > offset) handler.expired?.({ topic: options.topic, partition, from: offset, end });
  }

  async function consumePartition(partition: number): Promise<void> {
    let offset = (await startOf(partition)) ?? 0;
    for (;;) {
      await batchReady(partition, offset);
      if (closing) break;
      reportExpired(partition, offset);
      const records = store.read(partition, offset, maxBatchRecords);
      // The last offsets of a compacted topic may be gone.
      const end = Math.max(offset, store.end(partition));
      if (records.length === 0) await handler.passed?.(partition, end);
      else if ((await handler.records(partition, records)) === 'halted') {
        await closed();
        break;
      }
      offset = (records.at(-1)?.offset ?? end - 1) + 1;
      // Other work of this thread runs even when every call settles at once.
      await nextTurn();
    }
    await handler.revoked(partition);
  }

  function stop(): void {
    closing = true;
    stopListening();
    changed.notifyAll();
  }

  const loops = Array.from({ length: store.partitions }, (_, partition) => consumePartition(partition));
  return subscriptionOf(loops, stop);
}

/**
 * The first and end offsets of partitions. Calls of one turn of the event loop share a ListOffsets request for each
 * topic and leader: some callers ask about every partition, many times a second.
 */
import type { Log, Topic } from '../../../../pipeline/ports.js';
import { retried } from '../../../../pipeline/retrying.js';
import { type Brokers, ConnectionClosed, ReplicasAway } from '../connection/brokers.js';
import { listOffsets } from '../connection/kafkajs-internals.js';
import { RequestBatcher } from '../connection/request-batcher.js';
import type { PartitionSource } from './fetching.js';

/**
 * Makes functions that see every append that was durable before the call. One exception: a leader that was paused
 * answers with the end that it knew, until it learns of its successor. `pipeline/positions.ts` waits for that.
 */
export function createBounds(
  brokers: Brokers,
  topicName: (topic: Topic) => string,
  { outageLimitMs, waitsForReplicas }: Pick<PartitionSource, 'outageLimitMs' | 'waitsForReplicas'>,
): Pick<Log, 'bounds' | 'end'> {
  const firstOffset = batchedOffset('first');
  const endOffset = batchedOffset('end');

  function batchedOffset(which: 'first' | 'end'): (topic: Topic, partition: number) => Promise<number> {
    const batchers = new Map<string, RequestBatcher<number, number>>();

    function batcherOf(topic: string, node: number): RequestBatcher<number, number> {
      const name = `${topic}/${node}`;
      const batcher =
        batchers.get(name) ??
        new RequestBatcher({
          isFull: () => false,
          async send(partitions) {
            const asked = [...new Set(partitions)];
            const offsets = await brokers.request(node, (broker) => listOffsets(broker, topic, asked, which));
            return partitions.map((partition) => offsets.get(partition)!);
          },
        });
      batchers.set(name, batcher);
      return batcher;
    }

    return (topic, partition) =>
      retried(
        async () => {
          const name = topicName(topic);
          return batcherOf(name, await brokers.leaderOf(name, partition)).add(() => partition);
        },
        {
          limitMs: outageLimitMs,
          isFinal: (error) => error instanceof ConnectionClosed,
          isForAll: (error) => error instanceof ReplicasAway && waitsForReplicas(),
        },
      );
  }

  return {
    end: endOffset,
    async bounds(topic, partition) {
      const [first, end] = await Promise.all([firstOffset(topic, partition), endOffset(topic, partition)]);
      return { first, end };
    },
  };
}

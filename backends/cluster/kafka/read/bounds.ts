/**
 * The first and end offsets of partitions. Calls of one turn of the event loop share a ListOffsets request per topic:
 * some callers ask about every partition, many times a second.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log, Topic } from '../../../../pipeline/ports.js';
import { retried } from '../../retrying.js';
import { type Brokers, ConnectionClosed } from '../connection/brokers.js';

interface PendingRequest {
  readonly partitions: Set<number>;
  readonly offsets: Promise<ReadonlyMap<number, number>>;
}

/**
 * Makes functions that see every append that was durable before the call. One exception: a leader that was paused
 * answers with the end that it knew, until it learns of its successor. `pipeline/positions.ts` waits for that.
 */
export function createBounds(
  brokers: Brokers,
  topicName: (topic: Topic) => string,
  outageLimitMs: number,
): Pick<Log, 'bounds' | 'end'> {
  const firstOffset = batchedOffset(true);
  const endOffset = batchedOffset(false);

  async function listOffsets(
    topic: Topic,
    partitions: ReadonlySet<number>,
    fromBeginning: boolean,
  ): Promise<Map<number, number>> {
    const request = {
      topic: topicName(topic),
      partitions: [...partitions].map((partition) => ({ partition })),
      fromBeginning,
    };
    const [answer] = await brokers.use((cluster) => cluster.fetchTopicsOffset([request]));
    return new Map(answer!.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  }

  function batchedOffset(fromBeginning: boolean): (topic: Topic, partition: number) => Promise<number> {
    const pending = new Map<Topic, PendingRequest>();

    function newRequest(topic: Topic): PendingRequest {
      const partitions = new Set<number>();
      const offsets = nextTurn().then(() => {
        pending.delete(topic);
        return retried(() => listOffsets(topic, partitions, fromBeginning), {
          limitMs: outageLimitMs,
          isFinal: (error) => error instanceof ConnectionClosed,
        });
      });
      return { partitions, offsets };
    }

    return async (topic, partition) => {
      const request = pending.get(topic) ?? newRequest(topic);
      pending.set(topic, request);
      request.partitions.add(partition);
      return (await request.offsets).get(partition)!;
    };
  }

  return {
    end: endOffset,
    async bounds(topic, partition) {
      const [first, end] = await Promise.all([firstOffset(topic, partition), endOffset(topic, partition)]);
      return { first, end };
    },
  };
}

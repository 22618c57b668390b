/**
 * A consumer without a group: this process reads all partitions of the topic, whatever other processes do.
 *
 * Partitions with space in their queues share the next fetch request to their leader, which waits for records. There is
 * one connection per broker, however many partitions there are.
 */
import type { ConsumeOptions, Log, Subscription } from '../../../../pipeline/ports.js';
import { subscriptionOf } from '../../../subscription.js';
import { outageLimitMs as defaultOutageLimitMs } from '../../retrying.js';
import { Brokers } from '../connection/brokers.js';
import type { KafkaConnection } from '../connection/connection.js';
import { RequestBatcher } from '../connection/request-batcher.js';
import {
  type FetchedPartition,
  fetchFrom,
  fetchFromLeader,
  type PartitionFetch,
  type PartitionSource,
} from '../read/fetching.js';
import { type ReadingWire, recordsOf } from '../read/records.js';
import { PartitionConsumer } from './partition-consumer.js';

/** How long a request for all partitions of its leader waits for records. An idle process sends so many requests. */
const idleWaitMs = 1_000;
/**
 * How long a request waits that lacks some partitions of its leader. One whose queue has space again may wait as long
 * for the request of the others.
 */
const sharedWaitMs = 250;

export interface StandaloneConsumerParts {
  readonly connection: KafkaConnection;
  readonly wire: ReadingWire;
  readonly options: Omit<ConsumeOptions, 'group'>;
  /** The same log, for reads at any offset. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  /** How long requests are retried during an outage. Default a minute. */
  readonly outageLimitMs?: number;
}

/** Starts a consumer whose `done` rejects when the handler fails, or when brokers are out of reach for too long. */
export function startStandaloneConsumer(parts: StandaloneConsumerParts): Subscription {
  const { connection, wire, options, log, outageLimitMs = defaultOutageLimitMs } = parts;
  const { topic } = options;
  const brokers = new Brokers(connection);
  const topicName = connection.topicName(topic);
  const source: PartitionSource = {
    fetch: sharedFetch(brokers, topicName, connection.partitions(topic)),
    fetchAlone: (requested) => fetchFromLeader(brokers, topicName, requested),
    bounds: (partition) => log.bounds(topic, partition),
    outageLimitMs,
  };
  const consumers = Array.from(
    { length: connection.partitions(topic) },
    (_, partition) =>
      new PartitionConsumer({
        partition,
        log,
        socketsOpened: connection.socketsOpened,
        source,
        options,
        decode: (messages) => recordsOf(wire, topic, partition, messages),
      }),
  );
  function stop(): void {
    for (const consumer of consumers) consumer.stop();
    void brokers.close();
  }
  return subscriptionOf(
    consumers.map((consumer) => consumer.run()),
    stop,
  );
}

/** Returns a fetch that shares requests between partitions with the same leader. */
function sharedFetch(brokers: Brokers, topicName: string, partitionCount: number): PartitionSource['fetch'] {
  const batchers = new Map<number, RequestBatcher<PartitionFetch, FetchedPartition>>();
  /** The leader of each partition at its last fetch. */
  const leaders = new Map<number, number>();

  function waitMsOf(node: number, requested: readonly PartitionFetch[]): number {
    if (leaders.size < partitionCount) return sharedWaitMs;
    const led = [...leaders.values()].filter((leader) => leader === node).length;
    return requested.length === led ? idleWaitMs : sharedWaitMs;
  }
  const newBatcher = (node: number) =>
    new RequestBatcher<PartitionFetch, FetchedPartition>({
      isFull: () => false,
      send: (requested) =>
        brokers.request(node, (broker) => fetchFrom(broker, topicName, requested, waitMsOf(node, requested))),
    });
  return async (requested) => {
    const node = await brokers.leaderOf(topicName, requested.partition);
    leaders.set(requested.partition, node);
    const batcher = batchers.get(node) ?? newBatcher(node);
    batchers.set(node, batcher);
    return batcher.add(() => requested);
  };
}

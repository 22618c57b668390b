/** A consumer without a group: this process reads all partitions of the topic, whatever other processes do. */
import { type ConsumeOptions, type Log, type Subscription, topics } from '../../../../pipeline/ports.js';
import { subscriptionOf } from '../../../subscription.js';
import { Brokers } from '../connection/brokers.js';
import type { KafkaConnection } from '../connection/connection.js';
import { type ReadingWire, recordsOf } from '../read/records.js';
import { consumePartition } from './consume-partition.js';
import { PartitionAssignment } from './partition-assignment.js';
import { sharedSource } from './shared-fetch.js';

/** What a consumer without a group works with. */
export interface StandaloneConsumerParts {
  readonly connection: KafkaConnection;
  readonly wire: ReadingWire;
  readonly options: Omit<ConsumeOptions, 'group'>;
  /** The same log, for reads at any offset. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  /**
   * How long requests are retried during an outage. Default: until it ends. No other process waits for what this one
   * reads, and a node that ended could not answer 503 to devices.
   */
  readonly outageLimitMs?: number;
}

/** Starts a consumer whose `done` rejects when the handler fails, or when an outage lasts longer than its limit. */
export function startStandaloneConsumer(parts: StandaloneConsumerParts): Subscription {
  const { connection, wire, options, log, outageLimitMs = Number.POSITIVE_INFINITY } = parts;
  const { topic } = options;
  const brokers = new Brokers(connection);
  const partitions = Array.from({ length: connection.partitions(topic) }, (_, partition) => partition);
  const source = sharedSource({
    brokers,
    topicName: connection.topicName(topic),
    partitions: () => partitions,
    bounds: (partition) => log.bounds(topic, partition),
    isCompacted: topic === topics.changes,
    outageLimitMs,
    waitsForReplicas: () => true,
  });
  const assignments = partitions.map((partition) => new PartitionAssignment(partition, `${partition}`));
  const consume = async (assignment: PartitionAssignment): Promise<void> => {
    await consumePartition(assignment, {
      log,
      socketsOpened: connection.socketsOpened,
      source,
      options,
      decode: (partition, messages, isWanted) => recordsOf(wire, topic, partition, messages, isWanted),
    });
  };
  function stop(): void {
    for (const assignment of assignments) assignment.lose();
    void brokers.close();
  }
  return subscriptionOf(assignments.map(consume), stop);
}

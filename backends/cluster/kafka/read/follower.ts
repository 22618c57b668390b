/**
 * A consumer without a group: this process reads all partitions of the topic, whoever else does.
 *
 * Flows in: what the handler wants to follow. Flows out: its records. Partitions that have room share their leader's
 * next request, which waits for records to come: one connection per broker, however many partitions.
 */
import type { ConsumeOptions, Log, Subscription } from '../../../../pipeline/ports.js';
import { outageLimitMs as defaultOutageLimitMs } from '../../retrying.js';
import { Brokers } from '../connection/brokers.js';
import type { KafkaConnection } from '../connection/connection.js';
import { Courier } from '../produce/request-batcher.js';
import { type Fetched, fetchFrom, fetchFromLeader, type PartitionSource, type Wanted } from './fetching.js';
import { Followed } from './followed.js';
import { type ReadingWire, recordsOf } from './records.js';

/**
 * How long a request waits for records. As long a partition that has room again may wait for others, which have come to
 * the end.
 */
const maxFetchWaitMs = 250;

export interface FollowerParts {
  readonly connection: KafkaConnection;
  readonly wire: ReadingWire;
  readonly options: Omit<ConsumeOptions, 'group'>;
  /** The same log, to be looked into. */
  readonly log: Pick<Log, 'read' | 'bounds'>;
  /** For how long an outage is sat out. Default a minute. */
  readonly outageLimitMs?: number;
  readonly onProblem: (message: string) => void;
}

/** `done` rejects when the handler fails, or when brokers are out of reach for too long. */
export function startFollower(parts: FollowerParts): Subscription {
  const { connection, wire, options, log, onProblem, outageLimitMs = defaultOutageLimitMs } = parts;
  const { topic } = options;
  const brokers = new Brokers(connection);
  const topicName = connection.topicName(topic);
  const source: PartitionSource = {
    fetch: sharedFetch(brokers, topicName),
    fetchAlone: (wanted) => fetchFromLeader(brokers, topicName, wanted),
    bounds: (partition) => log.bounds(topic, partition),
    outageLimitMs,
  };
  const followed = Array.from(
    { length: connection.partitions(topic) },
    (_, partition) =>
      new Followed({
        partition,
        log,
        socketsOpened: connection.socketsOpened,
        source,
        options,
        onProblem,
        decode: (messages) => recordsOf(wire, topic, partition, messages),
      }),
  );
  function stop(): void {
    for (const each of followed) each.stop();
    void brokers.close();
  }
  const loops = followed.map((each) => each.follow());
  const settled = Promise.allSettled(loops);
  const done = Promise.all(loops).then(
    () => {},
    (error) => {
      stop();
      throw error;
    },
  );
  return {
    done,
    async close() {
      stop();
      await settled;
    },
  };
}

/** Requests of partitions with the same leader go together. */
function sharedFetch(brokers: Brokers, topicName: string): PartitionSource['fetch'] {
  const couriers = new Map<number, Courier<Wanted, Fetched>>();

  function newCourier(node: number): Courier<Wanted, Fetched> {
    return new Courier({
      isFull: () => false,
      deliver: (wanted) => brokers.ask(node, (broker) => fetchFrom(broker, topicName, wanted, maxFetchWaitMs)),
    });
  }
  return async (wanted) => {
    const node = await brokers.leaderOf(topicName, wanted.partition);
    const courier = couriers.get(node) ?? newCourier(node);
    couriers.set(node, courier);
    return courier.carry(() => wanted);
  };
}

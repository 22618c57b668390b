/**
 * Fetch requests that the partitions of one consumer share.
 *
 * Partitions with space in their queues share the next request to their leader, which waits for records. There is one
 * connection per broker, however many partitions there are.
 */
import type { Brokers } from '../connection/brokers.js';
import { RequestBatcher } from '../connection/request-batcher.js';
import {
  type FetchedPartition,
  fetchFrom,
  fetchFromLeader,
  type PartitionFetch,
  type PartitionSource,
} from '../read/fetching.js';

/** How long a request for all partitions of its leader waits for records. An idle process sends so many requests. */
const idleWaitMs = 1_000;
/**
 * How long a request waits that lacks some partitions of its leader. One whose queue has space again may wait as long
 * for the request of the others.
 */
const sharedWaitMs = 250;

interface SharedAnswer {
  readonly fetched: FetchedPartition;
  /** The partition has records, but those of others filled the response. */
  readonly isCrowdedOut: boolean;
}

interface SharedSourceParts
  extends Pick<PartitionSource, 'bounds' | 'isCompacted' | 'outageLimitMs' | 'waitsForReplicas'> {
  readonly brokers: Brokers;
  readonly topicName: string;
  /** Lists the partitions that may be fetched now or soon. */
  readonly partitions: () => readonly number[];
}

/** Returns the source of all partitions of one consumer. */
export const sharedSource = ({ brokers, topicName, partitions, ...rest }: SharedSourceParts): PartitionSource => ({
  fetch: sharedFetch(brokers, topicName, partitions),
  fetchAlone: (requested, maxWaitMs) => fetchFromLeader(brokers, topicName, requested, maxWaitMs),
  ...rest,
});

/** Returns a fetch that shares requests. `partitions` lists those that may be fetched now or soon. */
export function sharedFetch(
  brokers: Brokers,
  topicName: string,
  partitions: () => readonly number[],
): PartitionSource['fetch'] {
  const batchers = new Map<number, RequestBatcher<PartitionFetch, SharedAnswer>>();
  /** The leader of each partition at its last fetch. */
  const leaders = new Map<number, number>();

  function waitMsOf(node: number, requested: readonly PartitionFetch[]): number {
    const present = new Set(requested.map(({ partition }) => partition));
    const mayFollow = (partition: number): boolean =>
      !present.has(partition) && (leaders.get(partition) ?? node) === node;
    return partitions().some(mayFollow) ? sharedWaitMs : idleWaitMs;
  }
  const newBatcher = (node: number) =>
    new RequestBatcher<PartitionFetch, SharedAnswer>({
      isFull: () => false,
      async send(requested) {
        const sent = lastOfEach(requested);
        const waitMs = waitMsOf(node, sent);
        const fetched = await brokers.request(node, (broker) => fetchFrom(broker, topicName, sent, waitMs));
        return answersTo(requested, sent, fetched);
      },
    });
  return async (requested) => {
    const node = await brokers.leaderOf(topicName, requested.partition);
    leaders.set(requested.partition, node);
    const batcher = batchers.get(node) ?? newBatcher(node);
    batchers.set(node, batcher);
    let answer = await batcher.add(() => requested);
    // It asks again before those that got records, so it soon comes first, and gets a batch of any size.
    for (let asked = 1; answer.isCrowdedOut && asked < partitions().length; asked++)
      answer = await batcher.add(() => requested);
    return answer.fetched;
  };
}

/** A partition that has left and come back may be requested twice. Kafka allows it once, and only the last counts. */
const lastOfEach = (requested: readonly PartitionFetch[]): PartitionFetch[] => [
  ...new Map(requested.map((each) => [each.partition, each])).values(),
];

function answersTo(
  requested: readonly PartitionFetch[],
  sent: readonly PartitionFetch[],
  fetched: readonly FetchedPartition[],
): SharedAnswer[] {
  const hasRecords = fetched.some(({ nextOffset }, i) => nextOffset > sent[i]!.offset);
  return requested.map((each) => {
    const found = fetched[sent.indexOf(each)] ?? nothingAt(each);
    const isCrowdedOut = hasRecords && found.nextOffset === each.offset && found.endOffset > each.offset;
    return { fetched: found, isCrowdedOut };
  });
}

const nothingAt = ({ offset }: PartitionFetch): FetchedPartition => ({
  messages: [],
  nextOffset: offset,
  endOffset: offset,
});

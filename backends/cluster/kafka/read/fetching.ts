/**
 * Fetch requests outside any group.
 *
 * Retention and compaction leave gaps between offsets, so each result says where the next records are. Records of
 * transactions, which Fenceline does not write, are read uncommitted.
 */
import type { Broker, KafkaMessage } from 'kafkajs';
import { type RetryOptions, retried } from '../../../../pipeline/retrying.js';
import { type Brokers, ConnectionClosed, ReplicasAway } from '../connection/brokers.js';
import { fetchRaw, type RawRecord } from '../connection/kafkajs-internals.js';

/**
 * Bytes that one fetch may return of a partition. As large as the batches that producers make by default; a larger
 * batch is returned when it is the first of a response.
 */
export const maxFetchedBytes = 2 ** 20;
/** A fetch of one partition with this limit returns the next batch: no topic accepts larger ones. */
const wholeBatchBytes = 16 * 2 ** 20;
/** Limit of one response for all partitions: decoding it must not block the event loop. */
const maxResponseBytes = 2 * 2 ** 20;

/** How long a broker may take to return a record that it has. */
const presentWaitMs = 1_000;

const readUncommitted = 0;

/** A broker that enforces a quota answers without any partition. The answer tells nothing of them. */
class Throttled extends Error {
  readonly type = 'THROTTLING_QUOTA_EXCEEDED';
}

/** One partition of a fetch request. */
export interface PartitionFetch {
  readonly partition: number;
  readonly offset: number;
  readonly maxBytes: number;
}

/** One partition of the response. */
export interface FetchedPartition {
  readonly messages: readonly KafkaMessage[];
  /** The offset after everything that was returned. The requested offset when nothing was. */
  readonly nextOffset: number;
  /** The offset after the last record that can be read. */
  readonly endOffset: number;
  /** True if retention has removed what was at the requested offset, so that reading continues after a gap. */
  readonly hasExpired?: boolean;
}

/**
 * Returns the partitions in the order of the request. Waits up to `maxWaitMs` for a record. Rejects when the offset of
 * any partition is outside its log, see {@link isOutOfRange}, and when a quota was exceeded. kafkajs then delays what
 * is sent next by the time that the broker demands.
 */
export async function fetchFrom(
  broker: Broker,
  topicName: string,
  requested: readonly PartitionFetch[],
  maxWaitMs: number,
): Promise<FetchedPartition[]> {
  const partitions = requested.map(({ partition, offset, maxBytes }) => ({
    partition,
    fetchOffset: `${offset}`,
    maxBytes,
  }));
  const response = await fetchRaw(broker, {
    isolationLevel: readUncommitted,
    maxWaitTime: maxWaitMs,
    minBytes: 1,
    maxBytes: Math.max(maxResponseBytes, ...requested.map(({ maxBytes }) => maxBytes)),
    topics: [{ topic: topicName, partitions }],
  });
  const byPartition = new Map(response.map((each) => [each.partition, each]));
  return requested.map(({ partition, offset }) => {
    const answered = byPartition.get(partition);
    if (answered === undefined) throw new Throttled(`the answer omits partition ${partition}: a quota was exceeded`);
    const { messages, highWatermark } = answered;
    return { ...from(offset, messages), endOffset: Number(highWatermark) };
  });
}

/**
 * Returns the records from the offset on. Brokers return whole batches, even when the offset is inside one. The next
 * offset follows the batch, not its last record: compaction may have removed that.
 */
function from(offset: number, raw: readonly RawRecord[]): Pick<FetchedPartition, 'messages' | 'nextOffset'> {
  const messages = raw.filter((message) => Number(message.offset) >= offset && message.isControlRecord !== true);
  const last = raw.at(-1);
  if (last === undefined) return { messages, nextOffset: offset };
  const { firstOffset, lastOffsetDelta } = last.batchContext ?? { firstOffset: last.offset, lastOffsetDelta: 0 };
  return { messages, nextOffset: Math.max(offset, Number(firstOffset) + lastOffsetDelta + 1) };
}

/** Returns whether the error is about this partition. One partition out of range fails the whole request. */
const isOutOfRange = (error: unknown, partition: number): boolean =>
  error instanceof Error &&
  (error as { type?: unknown }).type === 'OFFSET_OUT_OF_RANGE' &&
  (error as { partition?: unknown }).partition === partition;

/** How a partition is fetched. Each call is one attempt. */
export interface PartitionSource {
  /** May share a request with other partitions, and may wait for a record. */
  readonly fetch: (requested: PartitionFetch) => Promise<FetchedPartition>;
  /**
   * Fetches in a request for this partition alone, so that the first batch is returned however large it is. Waits up to
   * `maxWaitMs` for it.
   */
  readonly fetchAlone: (requested: PartitionFetch, maxWaitMs: number) => Promise<FetchedPartition>;
  /** Whether compaction may have removed everything between an offset and the end. */
  readonly isCompacted: boolean;
  readonly bounds: (partition: number) => Promise<{ readonly first: number; readonly end: number }>;
  /** How long requests are retried during an outage. */
  readonly outageLimitMs: number;
  /** Whether requests are retried for as long as the partition has no leader, because its replicas are away. */
  readonly waitsForReplicas: () => boolean;
}

/**
 * Fetches what follows the offset: records, or the next offset that may hold one when everything in between was
 * removed. Nothing at or beyond the end. Retries during an outage while `isWanted`.
 */
export async function fetchNext(
  source: PartitionSource,
  requested: PartitionFetch,
  isWanted: () => boolean = () => true,
): Promise<FetchedPartition> {
  const { partition, offset } = requested;
  const options: RetryOptions = {
    limitMs: source.outageLimitMs,
    isFinal: (error) => error instanceof ConnectionClosed || isOutOfRange(error, partition) || !isWanted(),
    isForAll: (error) => error instanceof ReplicasAway && source.waitsForReplicas(),
  };
  try {
    const fetched = await retried(() => source.fetch(requested), options);
    if (!isStuck(fetched, offset)) return fetched;
    // The next batch did not fit beside those of other partitions, or compaction removed everything.
    const whole = { ...requested, maxBytes: wholeBatchBytes };
    if (!source.isCompacted) return await retried(() => fetchPresent(source, whole), options);
    const alone = await retried(() => source.fetchAlone(whole, 0), options);
    return isStuck(alone, offset) ? { ...alone, nextOffset: alone.endOffset } : alone;
  } catch (error) {
    if (!isOutOfRange(error, partition)) throw error;
    const { first, end } = await source.bounds(partition);
    return { messages: [], nextOffset: Math.max(offset, first), endOffset: end, hasExpired: first > offset };
  }
}

/**
 * Rejects when nothing is returned although the partition has more. Without compaction no record may be skipped: a
 * broker with tiered storage answers so until it has read the remote segment.
 */
async function fetchPresent(source: PartitionSource, requested: PartitionFetch): Promise<FetchedPartition> {
  const fetched = await source.fetchAlone(requested, presentWaitMs);
  if (isStuck(fetched, requested.offset))
    throw new Error(`partition ${requested.partition} returns no record at ${requested.offset} before its end`);
  return fetched;
}

/** Returns whether nothing was returned although the partition has more. */
const isStuck = ({ nextOffset, endOffset }: FetchedPartition, offset: number): boolean =>
  nextOffset === offset && endOffset > offset;

/** Makes one attempt in a request for this partition alone. By default it does not wait for records. */
export async function fetchFromLeader(
  brokers: Brokers,
  topicName: string,
  requested: PartitionFetch,
  maxWaitMs = 0,
): Promise<FetchedPartition> {
  const leader = await brokers.leaderOf(topicName, requested.partition);
  const [fetched] = await brokers.request(leader, (broker) => fetchFrom(broker, topicName, [requested], maxWaitMs));
  return fetched!;
}

/**
 * Fetch requests to brokers, outside any group, and what they say of each partition.
 *
 * Flows in: offsets. Flows out: records from there on, and where the next ones are, for retention and compaction leave
 * gaps. Records of transactions, which we don't write, are read as they come.
 */
import type { Broker, KafkaMessage } from 'kafkajs';
import { type RetryOptions, retried } from '../../retrying.js';
import { type Brokers, ConnectionClosed } from '../connection/brokers.js';
import { fetchRaw, type RawRecord } from '../connection/kafkajs-internals.js';

/** Asked for one partition alone, it brings what stands there: no topic's batches are larger. */
const surelyEnoughBytes = 16 * 2 ** 20;
/** Of all partitions together: what is made of it must not hold up the event loop. */
const maxAnswerBytes = 2 * 2 ** 20;

const readUncommitted = 0;

export interface Wanted {
  readonly partition: number;
  readonly offset: number;
  readonly maxBytes: number;
}

export interface Fetched {
  readonly partition: number;
  readonly messages: readonly KafkaMessage[];
  /** After what was looked at. The offset asked for when nothing was. */
  readonly nextOffset: number;
  /** After the last record that can be read. */
  readonly endOffset: number;
}

/**
 * Answers in the order of what is wanted. Waits up to `maxWaitMs` for a record to come. Rejects when an offset of any
 * partition is outside its log: see {@link isOutOfRange}.
 */
export async function fetchFrom(
  broker: Broker,
  topicName: string,
  wanted: readonly Wanted[],
  maxWaitMs: number,
): Promise<Fetched[]> {
  const partitions = wanted.map(({ partition, offset, maxBytes }) => ({
    partition,
    fetchOffset: `${offset}`,
    maxBytes,
  }));
  const answered = await fetchRaw(broker, {
    isolationLevel: readUncommitted,
    maxWaitTime: maxWaitMs,
    minBytes: 1,
    maxBytes: Math.max(maxAnswerBytes, ...wanted.map(({ maxBytes }) => maxBytes)),
    topics: [{ topic: topicName, partitions }],
  });
  const found = new Map(answered.map((each) => [each.partition, each]));
  return wanted.map(({ partition, offset }) => {
    const { messages, highWatermark } = found.get(partition)!;
    return { partition, ...from(offset, messages), endOffset: Number(highWatermark) };
  });
}

/**
 * A batch comes whole, also when the offset asked for is within. Its end counts: compaction may have taken its last
 * records.
 */
function from(offset: number, raw: readonly RawRecord[]): Pick<Fetched, 'messages' | 'nextOffset'> {
  const messages = raw.filter((message) => Number(message.offset) >= offset && message.isControlRecord !== true);
  const last = raw.at(-1);
  if (last === undefined) return { messages, nextOffset: offset };
  const { firstOffset, lastOffsetDelta } = last.batchContext ?? { firstOffset: last.offset, lastOffsetDelta: 0 };
  return { messages, nextOffset: Math.max(offset, Number(firstOffset) + lastOffsetDelta + 1) };
}

/** Of the first partition for which it is so; then the whole request fails. */
const isOutOfRange = (error: unknown, partition: number): boolean =>
  error instanceof Error &&
  (error as { type?: unknown }).type === 'OFFSET_OUT_OF_RANGE' &&
  (error as { partition?: unknown }).partition === partition;

/** How a partition is fetched from. Each is one try. */
export interface PartitionSource {
  /** May share its request with other partitions, and wait for a record to come. */
  readonly fetch: (wanted: Wanted) => Promise<Fetched>;
  /** In a request of its own, so that the first batch comes however large it is. */
  readonly fetchAlone: (wanted: Wanted) => Promise<Fetched>;
  /** First offset held and the one after the last. */
  readonly bounds: (partition: number) => Promise<{ readonly first: number; readonly end: number }>;
  /** For how long an outage is sat out. */
  readonly outageLimitMs: number;
}

/**
 * What is there from the offset on: records, or the offset before which nothing is left, or nothing at the end and
 * beyond.
 */
export async function fetchFound(source: PartitionSource, wanted: Wanted): Promise<Fetched> {
  const { partition, offset } = wanted;
  const options: RetryOptions = {
    limitMs: source.outageLimitMs,
    isFinal: (error) => error instanceof ConnectionClosed || isOutOfRange(error, partition),
  };
  try {
    const fetched = await retried(() => source.fetch(wanted), options);
    if (!isNothing(fetched, offset)) return fetched;
    // The next batch found no room beside those of other partitions, or compaction has taken all there was.
    const alone = await retried(() => source.fetchAlone({ ...wanted, maxBytes: surelyEnoughBytes }), options);
    return isNothing(alone, offset) ? { ...alone, nextOffset: alone.endOffset } : alone;
  } catch (error) {
    if (!isOutOfRange(error, partition)) throw error;
    const { first, end } = await source.bounds(partition);
    return { partition, messages: [], nextOffset: Math.max(offset, first), endOffset: end };
  }
}

/** Of a partition that has more. */
const isNothing = ({ nextOffset, endOffset }: Fetched, offset: number): boolean =>
  nextOffset === offset && endOffset > offset;

/** One try, in a request of its own and without waiting for records. */
export async function fetchFromLeader(brokers: Brokers, topicName: string, wanted: Wanted): Promise<Fetched> {
  const leader = await brokers.leaderOf(topicName, wanted.partition);
  const [fetched] = await brokers.ask(leader, (broker) => fetchFrom(broker, topicName, [wanted], 0));
  return fetched!;
}

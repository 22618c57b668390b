/**
 * Reads a partition from any offset, outside any group, and returns where it begins and ends. `fetching.ts` sends the
 * fetch requests, `bounds.ts` asks for offsets, `records.ts` converts the records. Requests are retried for about a
 * minute during an outage, and then reject with a ServiceError.
 */
import type { KafkaMessage } from 'kafkajs';
import { defaultReadBytes, type Log, type Topic, topics } from '../../../../pipeline/ports.js';
import { outageLimitMs as defaultOutageLimitMs } from '../../../../pipeline/retrying.js';
import { answerOfService } from '../../service-error.js';
import { Brokers } from '../connection/brokers.js';
import type { KafkaConnection } from '../connection/connection.js';
import { createBounds } from './bounds.js';
import { fetchFromLeader, fetchNext, maxFetchedBytes, type PartitionFetch, type PartitionSource } from './fetching.js';
import { type ReadingWire, recordsOf } from './records.js';

/** An estimate, so that a small read fetches little. */
const bytesPerRecord = 1_024;
const minFetchedBytes = 64 * 2 ** 10;

/** Reads at any offset, over connections of its own, which its owner closes. */
export interface Reader extends Pick<Log, 'read' | 'bounds' | 'end'> {
  close(): Promise<void>;
}

interface ReaderOptions extends Partial<Pick<PartitionSource, 'outageLimitMs' | 'waitsForReplicas'>> {
  /** May be shared with other readers. Default: connections of its own. */
  readonly brokers?: Brokers;
}

/** Creates a reader, which the caller closes with its connections to the brokers. */
export function createReader(
  connection: KafkaConnection,
  wire: ReadingWire,
  { outageLimitMs = defaultOutageLimitMs, waitsForReplicas = () => false, ...options }: ReaderOptions = {},
): Reader {
  const { brokers = new Brokers(connection) } = options;
  const { bounds, end } = createBounds(brokers, connection.topicName, { outageLimitMs, waitsForReplicas });
  const answerOf = <Answer>(topic: Topic, partition: number, answer: Promise<Answer>): Promise<Answer> =>
    answerOfService(answer, `Kafka: ${connection.topicName(topic)}/${partition} could not be read`);

  async function read(
    topic: Topic,
    partition: number,
    offset: number,
    maxRecords: number,
    maxBytes = defaultReadBytes,
  ): ReturnType<Log['read']> {
    const topicName = connection.topicName(topic);
    const fetch = (requested: PartitionFetch, maxWaitMs = 0) =>
      fetchFromLeader(brokers, topicName, requested, maxWaitMs);
    const source: PartitionSource = {
      fetch: (requested) => fetch(requested),
      fetchAlone: fetch,
      bounds: (each) => bounds(topic, each),
      isCompacted: topic === topics.changes,
      outageLimitMs,
      waitsForReplicas,
    };
    const fetchedBytes = Math.min(maxFetchedBytes, maxBytes, Math.max(minFetchedBytes, maxRecords * bytesPerRecord));
    const found: KafkaMessage[] = [];
    let bytes = 0;
    /** Adds the message, unless a limit is reached. */
    function add(message: KafkaMessage): boolean {
      bytes += (message.key?.length ?? 0) + (message.value?.length ?? 0);
      if (found.length === maxRecords || (found.length > 0 && bytes > maxBytes)) return false;
      found.push(message);
      return true;
    }
    let next = offset;
    let isEnd = false;
    while (found.length < maxRecords && !isEnd) {
      const requested = { partition, offset: next, maxBytes: fetchedBytes };
      const { messages, nextOffset, endOffset } = await fetchNext(source, requested);
      const isCut = !messages.every(add);
      next = isCut ? Number(found.at(-1)!.offset) + 1 : nextOffset;
      isEnd = isCut || nextOffset >= endOffset;
    }
    return { records: await recordsOf(wire, topic, partition, found, waitsForReplicas), nextOffset: next };
  }

  return {
    bounds: (topic, partition) => answerOf(topic, partition, bounds(topic, partition)),
    end: (topic, partition) => answerOf(topic, partition, end(topic, partition)),
    read: (topic, partition, ...range) => answerOf(topic, partition, read(topic, partition, ...range)),
    close: () => brokers.close(),
  };
}

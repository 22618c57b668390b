/**
 * Reads a partition from any offset, outside any group, and says where it begins and ends.
 *
 * Flows in: offsets. Flows out: log records that are there already. Outages are sat out for about a minute.
 */
import type { KafkaMessage } from 'kafkajs';
import { defaultReadBytes, type Log } from '../../../../pipeline/ports.js';
import { outageLimitMs as defaultOutageLimitMs } from '../../retrying.js';
import { Brokers } from '../connection/brokers.js';
import type { KafkaConnection } from '../connection/connection.js';
import { maxFetchedBytes } from '../consume/record-queue.js';
import { createBounds } from './bounds.js';
import { fetchFound, fetchFromLeader, type Wanted } from './fetching.js';
import { type ReadingWire, recordsOf } from './records.js';

/** A guess, to fetch little where little is asked for. */
const bytesPerRecord = 1_024;
const minFetchedBytes = 64 * 2 ** 10;

export interface Reader extends Pick<Log, 'read' | 'bounds'> {
  close(): Promise<void>;
}

export function createReader(
  connection: KafkaConnection,
  wire: ReadingWire,
  outageLimitMs = defaultOutageLimitMs,
): Reader {
  const brokers = new Brokers(connection);
  const bounds = createBounds(brokers, connection.topicName, outageLimitMs);

  return {
    bounds,
    async read(topic, partition, offset, maxRecords, maxBytes = defaultReadBytes) {
      const topicName = connection.topicName(topic);
      const fetch = (wanted: Wanted) => fetchFromLeader(brokers, topicName, wanted);
      const source = { fetch, fetchAlone: fetch, bounds: (each: number) => bounds(topic, each), outageLimitMs };
      const fetchedBytes = Math.min(maxFetchedBytes, maxBytes, Math.max(minFetchedBytes, maxRecords * bytesPerRecord));
      const found: KafkaMessage[] = [];
      let bytes = 0;
      /** Takes the message, unless a bound is reached. */
      function take(message: KafkaMessage): boolean {
        bytes += (message.key?.length ?? 0) + (message.value?.length ?? 0);
        if (found.length === maxRecords || (found.length > 0 && bytes > maxBytes)) return false;
        found.push(message);
        return true;
      }
      for (let next = offset; found.length < maxRecords; ) {
        const wanted = { partition, offset: next, maxBytes: fetchedBytes };
        const { messages, nextOffset, endOffset } = await fetchFound(source, wanted);
        if (!messages.every(take) || nextOffset >= endOffset) break;
        next = nextOffset;
      }
      return recordsOf(wire, topic, partition, found);
    },
    close: () => brokers.close(),
  };
}

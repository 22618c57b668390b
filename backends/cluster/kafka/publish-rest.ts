/**
 * Publishes what a process may have published before it ended, and only that of it which isn't there: what its topic has near the end of a partition,
 * byte by byte, is not published again.
 *
 * Flows in: records in wire form. Flows out: those that are missing, to `publish`.
 *
 * Three cases remain in which a topic has a record twice: the writer was only paused, and writes when it wakes; more than `searchedRecords` of others
 * came between; or the leader has it and its replicas have not, so that it can't be read yet.
 */
import type { LogRecord, NewRecord, Topic } from '../../../pipeline/ports.js';
import { partitionOfKey } from './partitioner.js';
import type { Reader } from './reader.js';
import type { ReadingWire } from './records.js';

/** Beside as many as are to be published. Between the first publication and ours lie only those of other writers: conversions, mostly. */
const searchedRecords = 1_000;

/** For a reader of records in wire form. */
export const asOnTheWire: ReadingWire = { learn: async () => {}, fromWire: (_topic, frame) => frame };

export interface PublishRestParts {
  /** Of records {@link asOnTheWire}. */
  readonly reader: Pick<Reader, 'read' | 'bounds'>;
  readonly partitions: (topic: Topic) => number;
  readonly publish: (topic: Topic, records: readonly NewRecord[]) => Promise<void>;
}

export function createPublishRest({ reader, partitions, publish }: PublishRestParts): PublishRestParts['publish'] {
  async function lastRecords(topic: Topic, partition: number, count: number): Promise<readonly LogRecord[]> {
    const { first, end } = await reader.bounds(topic, partition);
    return reader.read(topic, partition, Math.max(first, end - count), count);
  }

  return async (topic, records) => {
    const used = new Set(records.map(({ key }) => partitionOfKey(key, partitions(topic))));
    const ends = await Promise.all([...used].map((each) => lastRecords(topic, each, records.length + searchedRecords)));
    const held = new Set(ends.flat().map(fingerprint));
    const missing = records.filter((record) => !held.has(fingerprint(record)));
    if (missing.length > 0) await publish(topic, missing);
  };
}

const fingerprint = ({ key, value }: NewRecord): string => JSON.stringify([key, value?.toString('latin1') ?? null]);

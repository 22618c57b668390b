/**
 * Publishes records that a process may have published before it ended. It reads the end of each partition and leaves
 * out the records that are there with the same bytes.
 *
 * A topic gets a record twice in three cases. The earlier writer was only paused, and writes when it resumes. More than
 * `searchedRecords` of other writers followed. The leader has the record but its replicas don't, so it can't be read
 * yet.
 */
import { createHash } from 'node:crypto';
import type { NewRecord, Topic } from '../../../../pipeline/ports.js';
import type { Reader } from '../read/reader.js';
import type { ReadingWire } from '../read/records.js';
import { partitionOfKey } from './partitioner.js';

/**
 * Records to search beyond the number to publish. Between the first publication and ours there are only records of
 * other writers, mostly conversions.
 */
const searchedRecords = 1_000;

/** Leaves records in wire form. */
export const unchangedWire: ReadingWire = { learn: async () => {}, fromWire: (_topic, frame) => frame };

interface PublishMissingParts {
  /** Reads records in wire form ({@link unchangedWire}). */
  readonly reader: Pick<Reader, 'read' | 'bounds'>;
  readonly partitions: (topic: Topic) => number;
  readonly publish: (topic: Topic, records: readonly NewRecord[]) => Promise<void>;
}

/** Returns a function that publishes records except those that the topic has. It resolves when they are durable. */
export function createPublishMissing({
  reader,
  partitions,
  publish,
}: PublishMissingParts): PublishMissingParts['publish'] {
  /** Adds the fingerprints of the partition's last records. Keeps one page of records in memory. */
  async function addLast(topic: Topic, partition: number, count: number, held: Set<string>): Promise<void> {
    const { first, end } = await reader.bounds(topic, partition);
    for (let offset = Math.max(first, end - count); offset < end; ) {
      const { records } = await reader.read(topic, partition, offset, end - offset);
      for (const record of records) held.add(fingerprint(record));
      offset = (records.at(-1)?.offset ?? end) + 1;
    }
  }

  return async (topic, records) => {
    const used = new Set(records.map(({ key }) => partitionOfKey(key, partitions(topic))));
    const held = new Set<string>();
    await Promise.all([...used].map((each) => addLast(topic, each, records.length + searchedRecords, held)));
    const missing = records.filter((record) => !held.has(fingerprint(record)));
    if (missing.length > 0) await publish(topic, missing);
  };
}

/** Returns a text of bounded length, however large the record is. */
const fingerprint = ({ key, value }: NewRecord): string =>
  JSON.stringify([key, value === null ? null : createHash('sha256').update(value).digest('base64')]);

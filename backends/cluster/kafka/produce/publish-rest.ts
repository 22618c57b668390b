/**
 * Publishes what a process may have published before it ended, and only that of it which isn't there: what its topic
 * has near the end of a partition, with the same bytes, is not published again.
 *
 * Flows in: records in wire form. Flows out: those that are missing, to `publish`.
 *
 * Three cases remain in which a topic has a record twice: the writer was only paused, and writes when it wakes; more
 * than `searchedRecords` of others came between; or the leader has it and its replicas have not, so that it can't be
 * read yet.
 */
import { createHash } from 'node:crypto';
import type { NewRecord, Topic } from '../../../../pipeline/ports.js';
import type { Reader } from '../read/reader.js';
import type { ReadingWire } from '../read/records.js';
import { partitionOfKey } from './partitioner.js';

/**
 * Beside as many as are to be published. Between the first publication and ours lie only those of other writers:
 * conversions, mostly.
 */
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
  /** Adds the fingerprints of the partition's last records, of which it holds one page at a time. */
  async function addLast(topic: Topic, partition: number, count: number, held: Set<string>): Promise<void> {
    const { first, end } = await reader.bounds(topic, partition);
    for (let offset = Math.max(first, end - count); offset < end; ) {
      const records = await reader.read(topic, partition, offset, end - offset);
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

/** As long for a large record as for a small one. */
const fingerprint = ({ key, value }: NewRecord): string =>
  JSON.stringify([key, value === null ? null : createHash('sha256').update(value).digest('base64')]);

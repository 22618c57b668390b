/**
 * A compacted topic in LMDB, with one partition and one entry per record. As in Kafka, a replaced record is kept for
 * the compaction lag, because readers may reject the newer one. Tombstones are kept for a bounded time, for readers
 * that were down.
 *
 * An append writes entries only. The sweep reads entries that are older than the lag, in order, and removes those that
 * they replace. So the random order of keys costs appends nothing.
 *
 * An entry is a block of one record, followed by the record's headers as JSON, if it has any.
 */
import { defaultReadBytes, type LogRecord, type NewRecord } from '../../pipeline/ports.js';
import { BlockPool, Page, readBlock } from './blocks.js';
import { readNamed } from './damage.js';
import type { Environment } from './environment.js';
import { maxKeyBytes, numberOf, numberValue, offsetKey, offsetOfKey, partitionKey } from './keys.js';
import type { RecordGroup, TopicStore } from './topic-store.js';

/** Limit per transaction, for compacted entries and for tombstones: it holds up other work of the thread. */
const maxSwept = 1_000;
const partition = 0;

interface CompactedTopicOptions {
  readonly environment: Environment;
  readonly name: string;
  readonly tombstoneRetentionMs: number;
  /** How long a replaced record is kept. */
  readonly compactionLagMs: number;
}

/** Copies the fields by name, because a spread takes several times as long, and a read has thousands of records. */
const withHeaders = ({ key, value, partition, offset, timestamp }: LogRecord, headers: string): LogRecord => ({
  key,
  value,
  partition,
  offset,
  timestamp,
  headers: JSON.parse(headers),
});

/** Makes a reader of a compacted topic, which opens the table of records only. */
export function createCompactedReader({
  environment,
  name,
}: Pick<CompactedTopicOptions, 'environment' | 'name'>): Pick<
  TopicStore,
  'environment' | 'partitions' | 'read' | 'first' | 'end'
> {
  const entries = environment.table(name);

  const end = (): number => numberOf(entries.getBinary(partitionKey(partition))) ?? 0;

  function first(): number {
    for (const key of entries.getKeys({ start: offsetKey(partition, 0), limit: 1 })) return offsetOfKey(key);
    return end();
  }

  function read(_partition: number, offset: number, maxRecords: number, maxBytes = defaultReadBytes): LogRecord[] {
    const page = new Page(maxRecords, maxBytes);
    for (const { key, value } of entries.getRange({ start: offsetKey(partition, offset), limit: maxRecords })) {
      const found = page.records.length;
      const blockEnd = readNamed(environment.path, () => readBlock(value, partition, offsetOfKey(key), offset, page));
      const record = page.records[found];
      if (record && blockEnd < value.length)
        page.records[found] = withHeaders(record, value.toString('utf8', blockEnd));
      if (page.isFull) break;
    }
    return page.records;
  }

  return { environment, partitions: 1, read, first, end };
}

/** Creates the topic in an environment that the caller opens and closes. Tables are created when they are missing. */
export function createCompactedTopic(options: CompactedTopicOptions): TopicStore {
  const { environment, name, tombstoneRetentionMs, compactionLagMs } = options;
  const reader = createCompactedReader(options);
  const entries = environment.table(name);
  /** Record key -> offset of its newest entry, of those that are compacted. */
  const newest = environment.table(`${name}:newest`);
  /**
   * Offset of a tombstone that is the newest of its key -> when it was appended (8 bytes) and the record key. Under the
   * key of the partition: the offset up to which entries are compacted.
   */
  const tombstones = environment.table(`${name}:tombstones`);
  const pool = new BlockPool();

  function check({ key }: NewRecord): void {
    const bytes = Buffer.byteLength(key);
    if (bytes === 0 || bytes > maxKeyBytes)
      throw new Error(`a record key has ${bytes} bytes: must be 1 to ${maxKeyBytes} in a compacted topic`);
  }

  function writeRecord({ key, value, headers }: NewRecord, offset: number, nowMs: number): void {
    const bare = { key, value };
    const text = headers === undefined ? '' : JSON.stringify(headers);
    // A character of UTF-16 takes at most three bytes.
    const builder = pool.builderFor(bare, 3 * text.length);
    builder.add(bare);
    builder.addText(text);
    entries.putSync(offsetKey(partition, offset), builder.finish(nowMs));
    pool.release(builder);
  }

  function group(): RecordGroup {
    let records: NewRecord[] = [];
    return {
      add(record) {
        records.push(record);
      },
      write(nowMs) {
        let offset = reader.end(partition);
        for (const record of records) writeRecord(record, offset++, nowMs);
        entries.putSync(partitionKey(partition), numberValue(offset));
      },
      release() {
        records = [];
      },
    };
  }

  /**
   * Returns the offset to continue at. In a folder of an earlier release, which noted the newest entries when they were
   * appended, compaction starts again.
   */
  function compactedUpTo(): number {
    const offset = numberOf(tombstones.getBinary(partitionKey(partition)));
    if (offset !== undefined) return offset;
    newest.clearSync();
    tombstones.clearSync();
    tombstones.putSync(partitionKey(partition), numberValue(0));
    return 0;
  }

  /** Compacts entries from before the time. Returns their number. */
  function compact(timeMs: number): number {
    const records = reader.read(partition, compactedUpTo(), maxSwept);
    const young = records.findIndex(({ timestamp }) => timestamp > timeMs);
    const old = young < 0 ? records : records.slice(0, young);
    for (const { key, value, offset, timestamp } of old) {
      const recordKey = Buffer.from(key);
      const older = numberOf(newest.getBinary(recordKey));
      // An earlier release that ran in between noted this entry, or a later one, as the newest.
      if (older !== undefined && older < offset) {
        entries.removeSync(offsetKey(partition, older));
        tombstones.removeSync(offsetKey(partition, older));
      }
      newest.putSync(recordKey, numberValue(offset));
      if (value === null)
        tombstones.putSync(offsetKey(partition, offset), Buffer.concat([numberValue(timestamp), recordKey]));
    }
    const last = old.at(-1);
    if (last !== undefined) tombstones.putSync(partitionKey(partition), numberValue(last.offset + 1));
    return old.length;
  }

  /** Removes tombstones from before the time. Returns their number. */
  function expire(timeMs: number): number {
    const expired: { key: Buffer; recordKey: Buffer }[] = [];
    for (const { key, value } of tombstones.getRange({ start: offsetKey(partition, 0), limit: maxSwept })) {
      if (value.readDoubleBE(0) > timeMs) break;
      expired.push({ key: Buffer.from(key), recordKey: Buffer.from(value.subarray(8)) });
    }
    for (const { key, recordKey } of expired) {
      entries.removeSync(key);
      tombstones.removeSync(key);
      newest.removeSync(recordKey);
    }
    return expired.length;
  }

  const sweep = (nowMs: number): boolean => compact(nowMs - compactionLagMs) + expire(nowMs - tombstoneRetentionMs) > 0;

  return { ...reader, check, group, sweep };
}

/**
 * A compacted topic in LMDB, with one partition and one entry per record. As in Kafka, a replaced record is kept for
 * the compaction lag, because readers may reject the newer one. Tombstones are kept for a bounded time, for readers
 * that were down.
 *
 * An entry is a block of one record, followed by the record's headers as JSON, if it has any.
 */
import { defaultReadBytes, type LogRecord, type NewRecord } from '../../pipeline/ports.js';
import { BlockPool, Page, readBlock } from './blocks.js';
import type { Environment, Table } from './environment.js';
import { maxKeyBytes, numberOf, numberValue, offsetKey, offsetOfKey, partitionKey } from './keys.js';
import type { RecordGroup, TopicStore } from './topic-store.js';

/** Limit per transaction, for replaced records and for tombstones. */
const maxSwept = 5_000;
const partition = 0;

export interface CompactedTopicOptions {
  readonly environment: Environment;
  readonly name: string;
  readonly tombstoneRetentionMs: number;
  /** How long a replaced record is kept. */
  readonly compactionLagMs: number;
}

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
      const blockEnd = readBlock(value, partition, offsetOfKey(key), offset, page);
      const record = page.records[found];
      if (record && blockEnd < value.length) {
        page.records[found] = { ...record, headers: JSON.parse(value.toString('utf8', blockEnd)) };
      }
      if (page.isFull) break;
    }
    return page.records;
  }

  return { environment, partitions: 1, read, first, end };
}

export function createCompactedTopic(options: CompactedTopicOptions): TopicStore {
  const { environment, name, tombstoneRetentionMs, compactionLagMs } = options;
  const reader = createCompactedReader(options);
  const entries = environment.table(name);
  /** Record key -> offset of its newest entry. */
  const newest = environment.table(`${name}:newest`);
  /** Offset of a tombstone that is the newest of its key -> when it was appended (8 bytes) and the record key. */
  const tombstones = environment.table(`${name}:tombstones`);
  /**
   * Offset of a record -> when it was appended (8 bytes) and the offset of the record that it has replaced (8 bytes).
   */
  const replaced = environment.table(`${name}:replaced`);
  const pool = new BlockPool();

  function check({ key }: NewRecord): void {
    const bytes = Buffer.byteLength(key);
    if (bytes === 0 || bytes > maxKeyBytes)
      throw new Error(`a record key has ${bytes} bytes: must be 1 to ${maxKeyBytes} in a compacted topic`);
  }

  function writeRecord(record: NewRecord, offset: number, nowMs: number): void {
    const key = Buffer.from(record.key);
    const older = numberOf(newest.getBinary(key));
    if (older !== undefined) {
      replaced.putSync(offsetKey(partition, offset), Buffer.concat([numberValue(nowMs), numberValue(older)]));
      tombstones.removeSync(offsetKey(partition, older));
    }
    const { headers, ...bare } = record;
    const builder = pool.builderFor(bare);
    builder.add(bare);
    const block = builder.finish(nowMs);
    entries.putSync(
      offsetKey(partition, offset),
      headers ? Buffer.concat([block, Buffer.from(JSON.stringify(headers))]) : block,
    );
    pool.release(builder);
    newest.putSync(key, numberValue(offset));
    if (record.value === null)
      tombstones.putSync(offsetKey(partition, offset), Buffer.concat([numberValue(nowMs), key]));
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

  /** Returns the table's entries from before the time, oldest first. */
  function entriesBefore(table: Table, timeMs: number): { key: Buffer; rest: Buffer }[] {
    const found: { key: Buffer; rest: Buffer }[] = [];
    for (const { key, value } of table.getRange({ start: offsetKey(partition, 0), limit: maxSwept })) {
      if (value.readDoubleBE(0) > timeMs) break;
      found.push({ key: Buffer.from(key), rest: Buffer.from(value.subarray(8)) });
    }
    return found;
  }

  function sweep(nowMs: number): boolean {
    const outdated = entriesBefore(replaced, nowMs - compactionLagMs);
    for (const { key, rest } of outdated) {
      entries.removeSync(offsetKey(partition, rest.readDoubleBE(0)));
      replaced.removeSync(key);
    }
    const expired = entriesBefore(tombstones, nowMs - tombstoneRetentionMs);
    for (const { key, rest } of expired) {
      entries.removeSync(key);
      tombstones.removeSync(key);
      newest.removeSync(rest);
    }
    return Math.max(outdated.length, expired.length) === maxSwept;
  }

  return { ...reader, check, group, sweep };
}

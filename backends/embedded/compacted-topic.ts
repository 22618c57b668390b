/**
 * A compacted topic in LMDB: one partition, one entry per record. Appending a key removes the older entry of that key at once, so the
 * topic is never larger than what it says. A tombstone stays for a bounded time, for readers that were away.
 */
import type { LogRecord, NewRecord } from '../../pipeline/ports.js';
import { BlockPool, readBlock } from './blocks.js';
import type { Environment } from './environment.js';
import { maxKeyBytes, numberOf, numberValue, offsetKey, offsetOfKey, partitionKey } from './keys.js';
import type { RecordGroup, TopicStore } from './topic-store.js';

const maxSweptTombstones = 5_000;
const partition = 0;

export interface CompactedTopicOptions {
  readonly environment: Environment;
  readonly name: string;
  readonly tombstoneRetentionMs: number;
}

export function createCompactedTopic({ environment, name, tombstoneRetentionMs }: CompactedTopicOptions): TopicStore {
  const entries = environment.table(name);
  /** Record key -> offset of its newest entry. */
  const newest = environment.table(`${name}:newest`);
  /** Offset of a tombstone -> when it was appended (8 bytes) and the record key. */
  const tombstones = environment.table(`${name}:tombstones`);
  const pool = new BlockPool();

  const end = (): number => numberOf(entries.getBinary(partitionKey(partition))) ?? 0;

  function first(): number {
    for (const key of entries.getKeys({ start: offsetKey(partition, 0), limit: 1 })) return offsetOfKey(key);
    return end();
  }

  function read(_partition: number, offset: number, maxRecords: number): LogRecord[] {
    const records: LogRecord[] = [];
    for (const { key, value } of entries.getRange({ start: offsetKey(partition, offset), limit: maxRecords })) {
      readBlock(value, partition, offsetOfKey(key), offset, maxRecords, records);
    }
    return records;
  }

  function check({ key }: NewRecord): void {
    const bytes = Buffer.byteLength(key);
    if (bytes === 0 || bytes > maxKeyBytes)
      throw new Error(`a record key of ${bytes} bytes; 1 to ${maxKeyBytes} in a compacted topic`);
  }

  function writeRecord(record: NewRecord, offset: number, nowMs: number): void {
    const key = Buffer.from(record.key);
    const older = numberOf(newest.getBinary(key));
    if (older !== undefined) {
      entries.removeSync(offsetKey(partition, older));
      tombstones.removeSync(offsetKey(partition, older));
    }
    const builder = pool.builderFor(record);
    builder.add(record);
    entries.putSync(offsetKey(partition, offset), builder.finish(nowMs));
    pool.release(builder);
    newest.putSync(key, numberValue(offset));
    if (record.value === null) tombstones.putSync(offsetKey(partition, offset), Buffer.concat([numberValue(nowMs), key]));
  }

  function group(): RecordGroup {
    let records: NewRecord[] = [];
    return {
      add(record) {
        records.push(record);
      },
      write(nowMs) {
        let offset = end();
        for (const record of records) writeRecord(record, offset++, nowMs);
        entries.putSync(partitionKey(partition), numberValue(offset));
      },
      release() {
        records = [];
      },
    };
  }

  /** Tombstones that are old enough to go: offset key and record key. */
  function expired(nowMs: number): { entry: Buffer; key: Buffer }[] {
    const found: { entry: Buffer; key: Buffer }[] = [];
    for (const { key, value } of tombstones.getRange({ start: offsetKey(partition, 0), limit: maxSweptTombstones })) {
      if (value.readDoubleBE(0) > nowMs - tombstoneRetentionMs) break;
      found.push({ entry: Buffer.from(key), key: Buffer.from(value.subarray(8)) });
    }
    return found;
  }

  function sweep(nowMs: number): boolean {
    const found = expired(nowMs);
    for (const { entry, key } of found) {
      entries.removeSync(entry);
      tombstones.removeSync(entry);
      newest.removeSync(key);
    }
    return found.length === maxSweptTombstones;
  }

  return { environment, partitions: 1, check, group, read, first, end, sweep };
}

/**
 * The records of one topic in its LMDB environment, as blocks under `[partition][base offset]`; `[partition]` holds the
 * end offset.
 */
import { defaultReadBytes, type LogRecord, type NewRecord } from '../../pipeline/ports.js';
import { type BlockBuilder, BlockPool, maxKeyLength, Page, readBlock, timestampOfBlock } from './blocks.js';
import type { Environment, Table } from './environment.js';
import { numberOf, numberValue, offsetKey, offsetOfKey, partitionKey } from './keys.js';
import { partitionOfKey } from './partitioner.js';

/** Records that are written together. */
export interface RecordGroup {
  /** Encodes the record into the group. */
  add(record: NewRecord): void;
  /**
   * Writes the group, giving its records their offsets. Only inside a transaction of the topic's environment; never
   * throws for its content.
   */
  write(nowMs: number): void;
  /** The group isn't used any more. */
  release(): void;
}

/**
 * What the log needs of a topic's storage. Reads see the snapshot of the moment; `group().write` runs inside a
 * transaction.
 */
export interface TopicStore {
  readonly environment: Environment;
  readonly partitions: number;
  /** Throws when the record can't be stored in this topic. */
  check(record: NewRecord): void;
  group(): RecordGroup;
  /** As the log's. */
  read(partition: number, offset: number, maxRecords: number, maxBytes?: number): LogRecord[];
  /** First offset still held; the end when nothing is. */
  first(partition: number): number;
  /** The offset after the last record. */
  end(partition: number): number;
  /**
   * Removes what is older than the topic keeps, a bounded part of it; answers whether more is left. Only inside a
   * transaction.
   */
  sweep(nowMs: number): boolean;
}

const maxSweptBlocks = 500;

export interface BlockTopicOptions {
  readonly environment: Environment;
  readonly table: Table;
  readonly partitions: number;
  readonly retentionMs: number;
}

/** A topic that is cleaned up by time. */
export function createBlockTopic({ environment, table, partitions, retentionMs }: BlockTopicOptions): TopicStore {
  const pool = new BlockPool();

  const end = (partition: number): number => numberOf(table.getBinary(partitionKey(partition))) ?? 0;

  function first(partition: number): number {
    const range = { start: offsetKey(partition, 0), end: partitionKey(partition + 1), limit: 1 };
    for (const key of table.getKeys(range)) return offsetOfKey(key);
    return end(partition);
  }

  /** Base offset of the block that holds `offset`, or `offset` itself when none does. */
  function baseOf(partition: number, offset: number): number {
    const range = { start: offsetKey(partition, offset), end: partitionKey(partition), reverse: true, limit: 1 };
    for (const key of table.getKeys(range)) return offsetOfKey(key);
    return offset;
  }

  function read(partition: number, offset: number, maxRecords: number, maxBytes = defaultReadBytes): LogRecord[] {
    const page = new Page(maxRecords, maxBytes);
    if (offset >= end(partition)) return page.records;
    const range = { start: offsetKey(partition, baseOf(partition, offset)), end: partitionKey(partition + 1) };
    for (const { key, value } of table.getRange(range)) {
      readBlock(value, partition, offsetOfKey(key), offset, page);
      if (page.isFull) break;
    }
    return page.records;
  }

  function group(): RecordGroup {
    const blocks = new Map<number, BlockBuilder[]>();
    function builders(partition: number): BlockBuilder[] {
      const list = blocks.get(partition) ?? [];
      blocks.set(partition, list);
      return list;
    }
    return {
      add(record) {
        const list = builders(partitionOfKey(record.key, partitions));
        if (list.at(-1)?.add(record)) return;
        const builder = pool.builderFor(record);
        builder.add(record);
        list.push(builder);
      },
      write(nowMs) {
        for (const [partition, list] of blocks) {
          let offset = end(partition);
          for (const builder of list) {
            table.putSync(offsetKey(partition, offset), builder.finish(nowMs));
            offset += builder.count;
          }
          table.putSync(partitionKey(partition), numberValue(offset));
        }
      },
      release() {
        for (const builder of [...blocks.values()].flat()) pool.release(builder);
        blocks.clear();
      },
    };
  }

  /** Keys of the partition's blocks that are old enough to go, at most `limit`. */
  function expired(partition: number, nowMs: number, limit: number): Buffer[] {
    const keys: Buffer[] = [];
    for (const { key, value } of table.getRange({ start: offsetKey(partition, 0), end: partitionKey(partition + 1) })) {
      if (keys.length === limit || timestampOfBlock(value) > nowMs - retentionMs) break;
      keys.push(Buffer.from(key));
    }
    return keys;
  }

  function sweep(nowMs: number): boolean {
    let left = maxSweptBlocks;
    for (let partition = 0; partition < partitions && left > 0; partition++) {
      const keys = expired(partition, nowMs, left);
      for (const key of keys) table.removeSync(key);
      left -= keys.length;
    }
    return left === 0;
  }

  return { environment, partitions, check: checkRecord, group, read, first, end, sweep };
}

function checkRecord({ key, value, headers }: NewRecord): void {
  if (headers !== undefined) throw new Error('headers in a topic that is not compacted');
  if (value === null) throw new Error('a tombstone in a topic that is not compacted');
  if (key.length > maxKeyLength) throw new Error(`a record key of ${key.length} characters; at most ${maxKeyLength}`);
}

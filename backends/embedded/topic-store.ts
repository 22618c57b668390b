/**
 * The storage of a topic in LMDB: blocks of records under `[partition][base offset]`, the end offset under
 * `[partition]`.
 */
import { defaultReadBytes, type LogRecord, type LogSlice, type NewRecord } from '../../pipeline/ports.js';
import {
  type BlockBuilder,
  BlockPool,
  maxHeadersLength,
  maxKeyLength,
  Page,
  readBlock,
  timestampOfBlock,
} from './blocks.js';
import { readNamed } from './damage.js';
import type { Environment, Table } from './environment.js';
import { numberOf, numberValue, offsetKey, offsetOfKey, partitionKey } from './keys.js';
import { partitionOfKey } from './partitioner.js';

/** Records that are written in one transaction. */
export interface RecordGroup {
  /** Encodes the record into the group. */
  add(record: NewRecord): void;
  /** Writes the records with their offsets, in a transaction of the topic's environment. Does not throw. */
  write(nowMs: number): void;
  /** Frees the buffers. The group must not be used afterwards. */
  release(): void;
}

/** The storage of a topic. Reads see the current snapshot; `group().write` runs in a transaction. */
export interface TopicStore {
  readonly environment: Environment;
  readonly partitions: number;
  /** Throws when the record can't be stored in this topic. */
  check(record: NewRecord): void;
  group(): RecordGroup;
  /** Returns the records of a `read` of the log. */
  read(partition: number, offset: number, maxRecords: number, maxBytes?: number): LogRecord[];
  /** Returns the first offset still held; the end if there is none. */
  first(partition: number): number;
  /** Returns the offset after the last record. */
  end(partition: number): number;
  /** Removes a bounded number of expired records, in a transaction. Returns whether more are left. */
  sweep(nowMs: number): boolean;
}

/** Reads records, and returns the offset to read on from as well. Sees the current snapshot. */
export function readSlice(
  store: Pick<TopicStore, 'read' | 'end'>,
  partition: number,
  offset: number,
  maxRecords: number,
  maxBytes?: number,
): LogSlice {
  const records = store.read(partition, offset, maxRecords, maxBytes);
  const last = records.at(-1);
  return { records, nextOffset: last === undefined ? Math.max(offset, store.end(partition)) : last.offset + 1 };
}

const maxSweptBlocks = 500;

interface BlockTopicOptions {
  readonly environment: Environment;
  readonly table: Table;
  readonly partitions: number;
  readonly retentionMs: number;
  /** Whether to write compressed blocks. Both forms are read. Default false. */
  readonly isCompressed?: boolean;
}

/** Makes a topic whose records expire by time. */
export function createBlockTopic({
  environment,
  table,
  partitions,
  retentionMs,
  isCompressed = false,
}: BlockTopicOptions): TopicStore {
  const pool = new BlockPool();

  const end = (partition: number): number => numberOf(table.getBinary(partitionKey(partition))) ?? 0;

  function first(partition: number): number {
    const range = { start: offsetKey(partition, 0), end: partitionKey(partition + 1), limit: 1 };
    for (const key of table.getKeys(range)) return offsetOfKey(key);
    return end(partition);
  }

  /** Returns the base offset of the block that contains `offset`; `offset` itself if there is none. */
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
      readNamed(environment.path, () => readBlock(value, partition, offsetOfKey(key), offset, page));
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
            const block = isCompressed ? builder.finishCompressed(nowMs) : builder.finish(nowMs);
            table.putSync(offsetKey(partition, offset), block);
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

  /**
   * Returns keys of the partition's expired blocks, at most `limit`. A block is as old as any after it, so the last
   * expired one is searched by halves: reading every block blocked the thread for 100 ms.
   */
  function expired(partition: number, nowMs: number, limit: number): Buffer[] {
    const range = { start: offsetKey(partition, 0), end: partitionKey(partition + 1), limit };
    const keys = [...table.getKeys(range)].map((key) => Buffer.from(key));
    const isExpired = (index: number): boolean =>
      timestampOfBlock(table.getBinary(keys[index]!)!) <= nowMs - retentionMs;
    let count = 0;
    for (let end = keys.length; count < end; ) {
      // The last one first: usually all or none of them are expired.
      const index = end === keys.length ? end - 1 : (count + end) >>> 1;
      if (isExpired(index)) count = index + 1;
      else end = index;
    }
    return keys.slice(0, count);
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
  if (headers !== undefined && JSON.stringify(headers).length > maxHeadersLength)
    throw new Error(`the headers of a record have more than ${maxHeadersLength} characters`);
  if (value === null) throw new Error('a record is a tombstone in a topic that is not compacted');
  if (key.length > maxKeyLength)
    throw new Error(`a record key has ${key.length} characters: the limit is ${maxKeyLength}`);
}

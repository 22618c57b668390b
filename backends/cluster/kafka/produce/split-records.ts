/** Splits an append by partition, and into parts that fit into a batch. Pure. */
import type { NewRecord, Topic } from '../../../../pipeline/ports.js';
import { maxBatchBytesOf } from '../connection/topics.js';
import { maxBatchBytes, maxBatchRecords } from './partition-queue.js';
import { partitionOfKey } from './partitioner.js';
import { headerBytes, maxBytesOf } from './record-batch.js';

/** Records of one partition, in the order of the append. */
interface PartitionRecords {
  readonly partition: number;
  readonly records: NewRecord[];
  /** Upper bound of their size in a batch. */
  maxBytes: number;
}

/** Throws when a record is larger than the topic accepts. */
export function splitByPartition(
  records: readonly NewRecord[],
  topic: Topic,
  partitions: number,
): readonly PartitionRecords[] {
  const parts: PartitionRecords[] = [];
  const open = new Array<PartitionRecords | undefined>(partitions);
  for (const record of records) {
    const bytes = maxBytesOf(record);
    if (headerBytes + bytes > maxBatchBytesOf(topic))
      throw new Error(`a record of ${bytes} bytes is too large for ${topic}`);
    const partition = partitionOfKey(record.key, partitions);
    let part = open[partition];
    if (part === undefined || part.maxBytes + bytes > maxBatchBytes || part.records.length === maxBatchRecords) {
      part = { partition, records: [], maxBytes: 0 };
      open[partition] = part;
      parts.push(part);
    }
    part.records.push(record);
    part.maxBytes += bytes;
  }
  return parts;
}

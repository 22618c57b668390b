/** An append's records, apart by partition and into pieces that a batch can hold. Pure. */
import type { NewRecord, Topic } from '../../../../pipeline/ports.js';
import { maxBatchBytesOf } from '../connection/topics.js';
import { maxBatchBytes, maxBatchRecords } from './partition-queue.js';
import { partitionOfKey } from './partitioner.js';
import { headerBytes, maxBytesOf } from './record-batch.js';

/** Records of one partition, in their order. */
export interface Piece {
  readonly partition: number;
  readonly records: NewRecord[];
  /** No less than they take in a batch. */
  maxBytes: number;
}

/** Throws when a record is larger than the topic takes. */
export function splitByPartition(records: readonly NewRecord[], topic: Topic, partitions: number): readonly Piece[] {
  const pieces: Piece[] = [];
  const open = new Array<Piece | undefined>(partitions);
  for (const record of records) {
    const bytes = maxBytesOf(record);
    if (headerBytes + bytes > maxBatchBytesOf(topic))
      throw new Error(`a record of ${bytes} bytes is too large for ${topic}`);
    const partition = partitionOfKey(record.key, partitions);
    let piece = open[partition];
    if (piece === undefined || piece.maxBytes + bytes > maxBatchBytes || piece.records.length === maxBatchRecords) {
      piece = { partition, records: [], maxBytes: 0 };
      open[partition] = piece;
      pieces.push(piece);
    }
    piece.records.push(record);
    piece.maxBytes += bytes;
  }
  return pieces;
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxBatchBytes, maxBatchRecords } from './partition-queue.js';
import { partitionOfKey } from './partitioner.js';
import { maxBytesOf } from './record-batch.js';
import { splitByPartition } from './splitting.js';

const blank = Buffer.alloc(2_000_000);
const sizes = fc.oneof(fc.nat(300), fc.integer({ min: 100_000, max: 1_500_000 }));

describe('splitting an append', () => {
  test('each partition gets its records in their order, in pieces that a batch can hold', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(20), sizes), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (list, partitions) => {
          const records = list.map(([key, size]) => ({ key: `${key}`, value: blank.subarray(0, size) }));
          const pieces = splitByPartition(records, 'locations', partitions);
          for (let partition = 0; partition < partitions; partition++) {
            const mine = pieces.filter((piece) => piece.partition === partition).flatMap((piece) => piece.records);
            expect(mine).toEqual(records.filter(({ key }) => partitionOfKey(key, partitions) === partition));
          }
          for (const piece of pieces) {
            expect(piece.maxBytes).toBe(piece.records.reduce((sum, record) => sum + maxBytesOf(record), 0));
            expect(piece.records.length === 1 || piece.maxBytes <= maxBatchBytes).toBe(true);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test('no piece has more records than a reader takes at once', () => {
    const records = Array.from({ length: 3 * maxBatchRecords - 1 }, () => ({ key: 'a', value: null }));
    const pieces = splitByPartition(records, 'changes', 1);
    expect(pieces.map((piece) => piece.records.length)).toEqual([
      maxBatchRecords,
      maxBatchRecords,
      maxBatchRecords - 1,
    ]);
  });

  test('a record larger than its topic takes is refused', () => {
    const record = { key: 'a', value: Buffer.alloc(4 * 2 ** 20) };
    expect(() => splitByPartition([record], 'locations', 4)).toThrow('too large for locations');
    expect(splitByPartition([record], 'dead-letters', 4).length).toBe(1);
  });
});

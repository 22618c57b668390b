import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { maxBatchBytes, maxBatchRecords } from './partition-queue.js';
import { partitionOfKey } from './partitioner.js';
import { maxBytesOf } from './record-batch.js';
import { splitByPartition } from './split-records.js';

const blank = Buffer.alloc(2_000_000);
const sizes = fc.oneof(fc.nat(300), fc.integer({ min: 100_000, max: 1_500_000 }));

describe('splitByPartition', () => {
  test('keeps the order of each partition, in parts that fit into a batch', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(20), sizes), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (list, partitions) => {
          const records = list.map(([key, size]) => ({ key: `${key}`, value: blank.subarray(0, size) }));
          const parts = splitByPartition(records, 'locations', partitions);
          for (let partition = 0; partition < partitions; partition++) {
            const mine = parts.filter((part) => part.partition === partition).flatMap((part) => part.records);
            expect(mine).toEqual(records.filter(({ key }) => partitionOfKey(key, partitions) === partition));
          }
          for (const part of parts) {
            expect(part.maxBytes).toBe(part.records.reduce((sum, record) => sum + maxBytesOf(record), 0));
            expect(part.records.length === 1 || part.maxBytes <= maxBatchBytes).toBe(true);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test('limits the records of a part', () => {
    const records = Array.from({ length: 3 * maxBatchRecords - 1 }, () => ({ key: 'a', value: null }));
    const parts = splitByPartition(records, 'changes', 1);
    expect(parts.map((part) => part.records.length)).toEqual([maxBatchRecords, maxBatchRecords, maxBatchRecords - 1]);
  });

  test('rejects a record that is larger than the topic accepts', () => {
    const record = { key: 'a', value: Buffer.alloc(4 * 2 ** 20) };
    expect(() => splitByPartition([record], 'locations', 4)).toThrow('too large for locations');
    expect(splitByPartition([record], 'dead-letters', 4).length).toBe(1);
  });
});

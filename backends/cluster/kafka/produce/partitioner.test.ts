import fc from 'fast-check';
import { Partitioners } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../../testing/any-character.js';
import { murmur2, partitionOfKey } from './partitioner.js';

describe('partitioner', () => {
  // The values come from the test of Apache Kafka's Java client. librdkafka and others use them too.
  test.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])('the hash of %s equals that of other clients', (key, hash) => {
    expect(murmur2(key)).toBe(hash);
  });

  test('any key gets the partition that kafkajs chooses', () => {
    const partition = Partitioners.DefaultPartitioner();
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter, maxLength: 2_000 }),
        fc.integer({ min: 1, max: 64 }),
        (key, partitions) => {
          const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
            partitionId,
            partitionErrorCode: 0,
            leader: 1,
            replicas: [1],
            isr: [1],
          }));
          const expected = partition({ topic: 'any', partitionMetadata, message: { key, value: null } });
          expect(partitionOfKey(key, partitions)).toBe(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});

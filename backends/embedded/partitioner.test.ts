import { describe, expect, test } from 'vitest';
import { partitionOfKey, stableHash } from './partitioner.js';

describe('partitioner', () => {
  test('the hash never changes, because data on disk depends on it', () => {
    expect(['', 'a', '5f1e2d3c4b5a69788796a5b4|test|device-1', 'ключ|鍵|🔑'].map(stableHash)).toMatchInlineSnapshot(`
      [
        2166202364,
        723813901,
        499682463,
        2304376319,
      ]
    `);
  });

  test.each([2, 3, 8, 12])('keys that differ little spread evenly over %i partitions', (partitions) => {
    const counts = new Array<number>(partitions).fill(0);
    for (let i = 0; i < 20_000; i++) counts[partitionOfKey(`project|live|device-${i}`, partitions)]! += 1;
    const mean = 20_000 / partitions;
    for (const count of counts) expect(Math.abs(count - mean)).toBeLessThan(mean * 0.1);
  });
});

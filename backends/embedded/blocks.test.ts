import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockPool, blockBytes, countOfBlock, Page, readBlock, timestampOfBlock } from './blocks.js';

const records = fc.array(
  fc.record({
    key: fc.string({ unit: 'grapheme', maxLength: 30 }),
    value: fc.option(fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes))),
  }),
  { minLength: 1, maxLength: 40 },
);

describe('blocks', () => {
  test('records are returned unchanged, from any offset on, up to the limit', () =>
    fc.assert(
      fc.property(records, fc.nat(50), fc.nat(50), fc.nat(2 ** 50), (all, skip, maxRecords, base) => {
        const builder = new BlockPool().builderFor(all[0]!);
        for (const each of all) expect(builder.add(each)).toBe(true);
        const block = builder.finish(1_234_567_890_123);
        const page = new Page(maxRecords, Number.POSITIVE_INFINITY);
        readBlock(block, 3, base, base + skip, page);
        const expected = all.map((each, i) => ({
          ...each,
          partition: 3,
          offset: base + i,
          timestamp: 1_234_567_890_123,
        }));
        expect(page.records).toEqual(expected.slice(skip, skip + maxRecords));
        expect(countOfBlock(block)).toBe(all.length);
        expect(timestampOfBlock(block)).toBe(1_234_567_890_123);
      }),
    ));

  test('a full block rejects more records and stays valid', () => {
    const pool = new BlockPool();
    const value = Buffer.alloc(1_000, 'v');
    const builder = pool.builderFor({ key: 'k', value });
    while (builder.add({ key: 'k', value }));
    const block = builder.finish(0);
    expect(block.length).toBeLessThanOrEqual(blockBytes);
    expect(block.length).toBeGreaterThan(blockBytes - 1_100);
    const page = new Page(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    readBlock(block, 0, 0, 0, page);
    expect(page.records.length).toBe(countOfBlock(block));
    expect(page.records.every((each) => each.value?.equals(value))).toBe(true);
  });

  test('a record larger than a block gets a separate block, which is not pooled', () => {
    const pool = new BlockPool();
    const record = { key: '鍵'.repeat(1_000), value: Buffer.alloc(2 * blockBytes, 1) };
    const builder = pool.builderFor(record);
    expect(builder.add(record)).toBe(true);
    expect(builder.release()).toBeNull();
  });
});

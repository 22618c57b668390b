import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BlockPool, blockBytes, countOfBlock, Page, readBlock, timestampOfBlock } from './blocks.js';

const records = fc.array(
  fc.record(
    {
      key: fc.string({ unit: 'grapheme', maxLength: 30 }),
      value: fc.option(fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes))),
      headers: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    },
    { requiredKeys: ['key', 'value'] },
  ),
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

  test('a compressed block returns the same records, and tells its count and timestamp', () => {
    const value = (index: number) => Buffer.from(`value ${index} `.repeat(1 + (index % 7)));
    const all = Array.from({ length: 1_000 }, (_, index) => ({ key: `device-${index}`, value: value(index) }));
    const builder = new BlockPool().builderFor(all[0]!);
    for (const each of all) builder.add(each);
    const plain = Buffer.from(builder.finish(5));
    const block = builder.finishCompressed(5);
    expect(block.length).toBeLessThan(plain.length / 3);
    expect([countOfBlock(block), timestampOfBlock(block)]).toEqual([1_000, 5]);
    for (const from of [0, 1, 500, 999, 1_000]) {
      const [page, expected] = [new Page(300, Number.POSITIVE_INFINITY), new Page(300, Number.POSITIVE_INFINITY)];
      readBlock(block, 3, 7, 7 + from, page);
      readBlock(plain, 3, 7, 7 + from, expected);
      expect(page.records).toEqual(expected.records);
      expect(page.records.length).toBe(Math.min(300, 1_000 - from));
    }
  });

  test('a block that is small, or does not become smaller, stays as it is', () => {
    for (const value of [Buffer.from('small'), randomBytes(100_000)]) {
      const builder = new BlockPool().builderFor({ key: 'k', value });
      builder.add({ key: 'k', value });
      expect(builder.finishCompressed(5)).toEqual(builder.finish(5));
    }
  });

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

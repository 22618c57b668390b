import type { Broker } from 'kafkajs';
import { describe, expect, test, vi } from 'vitest';
import { type FetchedPartition, fetchFrom, fetchNext, type PartitionSource } from './fetching.js';

/** Returns a record as kafkajs decodes it, in a batch from `first` to `last`. */
const raw = (offset: number, [first, last]: readonly [number, number], isControlRecord = false) => ({
  offset: `${offset}`,
  isControlRecord,
  batchContext: { firstOffset: `${first}`, lastOffsetDelta: last - first },
});

async function fetched(offset: number, messages: readonly object[]) {
  const answer = { responses: [{ partitions: [{ partition: 3, highWatermark: '40', messages }] }] };
  const broker = { fetch: async () => answer } as unknown as Broker;
  const [found] = await fetchFrom(broker, 'topic', [{ partition: 3, offset, maxBytes: 1 }], 0);
  return { ...found!, messages: found!.messages.map((message) => Number(message.offset)) };
}

describe('fetchFrom', () => {
  test('omits records before the offset and control records', async () => {
    const messages = [raw(4, [4, 6]), raw(5, [4, 6]), raw(6, [4, 6]), raw(7, [7, 7], true), raw(8, [8, 8])];
    expect(await fetched(5, messages)).toEqual({ messages: [5, 6, 8], nextOffset: 9, endOffset: 40 });
  });

  test('the next offset follows the last batch, even when its last records were compacted away', async () => {
    expect(await fetched(0, [raw(2, [0, 9])])).toMatchObject({ messages: [2], nextOffset: 10 });
    expect(await fetched(5, [raw(2, [0, 9])])).toMatchObject({ messages: [], nextOffset: 10 });
    expect(await fetched(0, [raw(2, [0, 9]), raw(10, [10, 10], true)])).toMatchObject({
      messages: [2],
      nextOffset: 11,
    });
  });

  test('an empty response keeps the offset', async () => {
    expect(await fetched(12, [])).toEqual({ messages: [], nextOffset: 12, endOffset: 40 });
  });

  // It counted as a broken connection, and all connections were replaced.
  test('an answer without partitions, because a quota was exceeded, is an answer of Kafka', async () => {
    const broker = { fetch: async () => ({ responses: [] }) } as unknown as Broker;
    const answer = fetchFrom(broker, 'topic', [{ partition: 3, offset: 0, maxBytes: 1 }], 0);
    await expect(answer).rejects.toMatchObject({ type: 'THROTTLING_QUOTA_EXCEEDED' });
  });
});

describe('fetchNext', () => {
  /** Longer than a busy machine takes. */
  const outageLimitMs = 60_000;
  const requested = { partition: 3, offset: 5, maxBytes: 100 };
  const nothing: FetchedPartition = { messages: [], nextOffset: 5, endOffset: 9 };
  const some: FetchedPartition = { ...nothing, nextOffset: 7 };
  const outOfRange = (partition: number) =>
    Object.assign(new Error('out of range'), { type: 'OFFSET_OUT_OF_RANGE', partition });
  const source = (parts: Partial<PartitionSource>): PartitionSource => ({
    fetch: async () => nothing,
    fetchAlone: async () => nothing,
    bounds: async () => ({ first: 0, end: 9 }),
    isCompacted: false,
    outageLimitMs,
    waitsForReplicas: () => false,
    ...parts,
  });

  test('fetches a batch alone that did not fit into the response', async () => {
    const fetchAlone = vi.fn(async () => some);
    expect(await fetchNext(source({ fetchAlone }), requested)).toBe(some);
    expect(fetchAlone).toHaveBeenCalledWith({ partition: 3, offset: 5, maxBytes: 16 * 2 ** 20 }, 1_000);
  });

  // An empty answer of any topic counted as compacted. A broker with tiered storage answers so during a read.
  test('an empty answer before the end skips no record of a topic that is not compacted', async () => {
    const fetchAlone = vi.fn().mockResolvedValueOnce(nothing).mockResolvedValueOnce(nothing).mockResolvedValue(some);
    expect(await fetchNext(source({ fetchAlone }), requested)).toBe(some);
    await expect(fetchNext(source({ outageLimitMs: 100 }), requested)).rejects.toThrow('no record at 5');
  });

  test('skips to the end of a compacted topic when nothing is left before it', async () => {
    expect(await fetchNext(source({ isCompacted: true }), requested)).toEqual({ ...nothing, nextOffset: 9 });
  });

  test.each([
    [
      { first: 7, end: 9 },
      { nextOffset: 7, endOffset: 9, hasExpired: true },
    ],
    [
      { first: 0, end: 4 },
      { nextOffset: 5, endOffset: 4, hasExpired: false },
    ],
  ])('uses the bounds when the offset is out of range: %o', async (bounds, found) => {
    const fetch = vi.fn().mockRejectedValue(outOfRange(3));
    expect(await fetchNext(source({ fetch, bounds: async () => bounds }), requested)).toEqual({
      messages: [],
      ...found,
    });
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('retries after an error of another partition, and during an outage up to the limit', async () => {
    const fetch = vi
      .fn()
      .mockRejectedValueOnce(outOfRange(2))
      .mockRejectedValueOnce(new Error('gone'))
      .mockResolvedValue(some);
    expect(await fetchNext(source({ fetch }), requested)).toBe(some);
    const gone = source({ fetch: vi.fn().mockRejectedValue(new Error('gone')), outageLimitMs: 100 });
    await expect(fetchNext(gone, requested)).rejects.toThrow('gone');
  });

  test('does not retry what nobody wants any more', async () => {
    const fetch = vi.fn().mockRejectedValue(new Error('gone'));
    await expect(fetchNext(source({ fetch }), requested, () => false)).rejects.toThrow('gone');
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

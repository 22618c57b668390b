import type { KafkaMessage } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import type { Position } from '../../../../pipeline/ports.js';
import type { FetchedPartition } from '../read/fetching.js';
import { Lease } from './lease.js';
import { maxQueuedBytes } from './record-queue.js';

const message = (offset: number): KafkaMessage => ({
  key: null,
  value: Buffer.from('x'),
  timestamp: '0',
  attributes: 0,
  offset: `${offset}`,
  headers: {},
});
/** What a fetch from `from` to `end` returns, of a log that ends there. */
const fetched = (from: number, end: number): FetchedPartition => ({
  partition: 3,
  messages: Array.from({ length: end - from }, (_, i) => message(from + i)),
  nextOffset: end,
  endOffset: end,
});

const endOf = (messages: readonly KafkaMessage[]): Position => ({
  offset: Number(messages.at(-1)!.offset) + 1,
  mark: null,
});

/** Returns a lease that is held from offset 10. */
function held(): Lease {
  const lease = new Lease(3, 'id');
  lease.claim();
  lease.hold({ offset: 10, mark: null });
  return lease;
}

/** Fetches up to `end` and hands the result to the lease. */
async function fetchTo(lease: Lease, end: number): Promise<void> {
  const next = (await lease.nextFetch())!;
  lease.accept(next, fetched(next.offset, end));
}

/** What a fetch returns when the records between two offsets were compacted away, of a log that ends at `logEnd`. */
const compacted = (to: number, logEnd = to): FetchedPartition => ({
  partition: 3,
  messages: [],
  nextOffset: to,
  endOffset: logEnd,
});

const isPending = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => false), new Promise<boolean>((resolve) => setImmediate(resolve, true))]);

describe('a fetch', () => {
  test('is wanted only while the partition is held, from the offset after the last one', async () => {
    const lease = new Lease(3, 'id');
    expect(await lease.nextFetch()).toBeUndefined();
    lease.claim();
    expect(await lease.nextFetch()).toBeUndefined();
    lease.hold({ offset: 10, mark: null });
    await fetchTo(lease, 13);
    await fetchTo(lease, 14);
    expect((await lease.take(10, 0))!.map(({ offset }) => Number(offset))).toEqual([10, 11, 12, 13]);
    expect((await lease.nextFetch())!.offset).toBe(14);
  });

  test('waits for space in the queue', async () => {
    const lease = held();
    const next = (await lease.nextFetch())!;
    const large = { ...message(10), value: Buffer.alloc(maxQueuedBytes) };
    lease.accept(next, { ...fetched(10, 11), messages: [large] });
    const following = lease.nextFetch();
    expect(await isPending(following)).toBe(true);
    await lease.take(1, 0);
    expect((await following)!.offset).toBe(11);
  });

  test('from before a move is discarded, even one to the same offset', async () => {
    const lease = held();
    const before = (await lease.nextFetch())!;
    lease.halt();
    lease.accept(before, fetched(10, 12));
    lease.resumeFrom({ offset: 10, mark: null });
    lease.accept(before, fetched(10, 12));
    expect(lease.nextOffset).toBe(10);
    await fetchTo(lease, 11);
    expect((await lease.take(10, 0))!.map(({ offset }) => Number(offset))).toEqual([10]);
  });

  test('without records moves the offset', async () => {
    const lease = held();
    const next = (await lease.nextFetch())!;
    lease.accept(next, { ...fetched(10, 13), messages: [] });
    expect(lease.nextOffset).toBe(13);
  });
});

test('the next offset is that of the first unfinished record', async () => {
  const lease = held();
  lease.accept((await lease.nextFetch())!, { ...fetched(10, 14), nextOffset: 16 });
  expect(lease.nextOffset).toBe(10);
  const first = (await lease.take(3, 0))!;
  expect(lease.nextOffset).toBe(10);
  lease.finish(endOf(first));
  expect(lease.nextOffset).toBe(13);
  lease.finish(endOf((await lease.take(3, 0))!));
  // The queue is empty, and no records follow the last one.
  expect(lease.nextOffset).toBe(16);
});

test('a halted lease accepts and fetches nothing, and its last records are not finished', async () => {
  const lease = held();
  await fetchTo(lease, 14);
  lease.finish(endOf((await lease.take(2, 0))!));
  await lease.take(1, 0);
  lease.halt();
  expect([lease.isOurs, lease.isMoving, lease.nextOffset]).toEqual([true, false, 12]);
  const following = lease.nextFetch();
  const taken = lease.take(1, 0);
  expect(await isPending(following)).toBe(true);
  lease.lose();
  expect(await Promise.all([following, taken])).toEqual([undefined, undefined]);
  expect(lease.nextOffset).toBe(12);
});

describe('a lost lease', () => {
  test('hands over nothing more and keeps the finished offset', async () => {
    const lease = held();
    await fetchTo(lease, 14);
    const first = (await lease.take(2, 0))!;
    const inFlight = (await lease.nextFetch())!;
    lease.lose();
    lease.accept(inFlight, fetched(14, 16));
    expect([lease.state, lease.isOurs, await lease.nextFetch()]).toEqual(['draining', false, undefined]);
    lease.finish(endOf(first));
    expect(await lease.take(2, 0)).toBeUndefined();
    expect(lease.nextOffset).toBe(12);
    lease.end();
    expect(lease.state).toBe('gone');
  });

  test('before the claim is never claimed', () => {
    const lease = new Lease(3, 'id');
    lease.lose();
    expect(lease.claim()).toBe(false);
    expect(lease.state).toBe('gone');
  });

  test('during the claim is never held', async () => {
    const lease = new Lease(3, 'id');
    lease.claim();
    lease.lose();
    lease.hold({ offset: 10, mark: null });
    expect([lease.state, lease.nextOffset, await lease.nextFetch()]).toEqual(['draining', 10, undefined]);
    expect(await lease.take(1, 0)).toBeUndefined();
  });
});

describe('an end whose records were compacted away', () => {
  test('is returned once, when the records before it are finished', async () => {
    const lease = held();
    const next = (await lease.nextFetch())!;
    lease.verified(0);
    lease.accept(next, { ...fetched(10, 12), nextOffset: 15, endOffset: 15 });
    const messages = await lease.take(10, 0);
    expect(lease.takeEmptyEnd()).toBeUndefined();
    lease.finish(endOf(messages!));
    expect(lease.takeEmptyEnd()).toBe(15);
    expect(lease.takeEmptyEnd()).toBeUndefined();
  });

  test('wakes the taker, although there are no records', async () => {
    const lease = held();
    lease.verified(0);
    expect(await lease.take(10, 0)).toEqual([]);
    const taken = lease.take(10, 0);
    lease.accept((await lease.nextFetch())!, compacted(12));
    expect(await taken).toEqual([]);
    expect(lease.takeEmptyEnd()).toBe(12);
  });

  test('is not returned before the end of the log, before verification, or after records', async () => {
    const lease = held();
    lease.verified(0);
    lease.accept((await lease.nextFetch())!, compacted(12, 13));
    expect(lease.takeEmptyEnd()).toBeUndefined();
    lease.requireVerification();
    lease.accept((await lease.nextFetch())!, compacted(13));
    expect(lease.takeEmptyEnd()).toBeUndefined();
    lease.verified(0);
    expect(lease.takeEmptyEnd()).toBe(13);
    lease.accept((await lease.nextFetch())!, fetched(13, 14));
    lease.finish(endOf((await lease.take(10, 0))!));
    expect(lease.takeEmptyEnd()).toBeUndefined();
  });
});

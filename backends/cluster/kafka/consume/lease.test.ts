import type { KafkaMessage } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import type { Position } from '../../../../pipeline/ports.js';
import { type FetchedBatch, Lease } from './lease.js';

const message = (offset: number): KafkaMessage => ({
  key: null,
  value: Buffer.from('x'),
  timestamp: '0',
  attributes: 0,
  offset: `${offset}`,
  headers: {},
});
const batch = (from: number, end: number): FetchedBatch => ({
  partition: 3,
  fetchedOffset: from,
  endOffset: end,
  messages: Array.from({ length: end - from }, (_, i) => message(from + i)),
});

const after = (messages: readonly KafkaMessage[]): Position => ({
  offset: Number(messages.at(-1)!.offset) + 1,
  mark: null,
});

/** Returns a lease that is held from offset 10 of a log that begins at 0. */
function held(): Lease {
  const lease = new Lease(3, 'id');
  lease.claim();
  lease.hold({ offset: 10, mark: null });
  lease.align(0);
  return lease;
}

describe('a fetched batch', () => {
  test('is accepted only while the partition is held, and only at the next offset', async () => {
    const lease = new Lease(3, 'id');
    expect(lease.accept(batch(0, 5))).toBe(true);
    expect(lease.claim()).toBe(true);
    expect(lease.accept(batch(0, 5))).toBe(true);
    lease.hold({ offset: 10, mark: null });
    expect(lease.wantsFetch).toBe(false);
    expect(lease.accept(batch(10, 12))).toBe(true);
    lease.align(0);
    expect([lease.fetchOffset, lease.wantsFetch]).toEqual([10, true]);

    expect(lease.accept(batch(10, 13))).toBe(true);
    expect(lease.accept(batch(13, 14))).toBe(true);
    expect((await lease.take(10, 0))!.map(({ offset }) => Number(offset))).toEqual([10, 11, 12, 13]);
  });

  test('at another offset is rejected, as is every later one until the lease is aligned again', () => {
    const lease = held();
    expect(lease.accept(batch(11, 13))).toBe(false);
    expect(lease.wantsFetch).toBe(false);
    expect(lease.accept(batch(10, 12))).toBe(true);
    expect(lease.fetchOffset).toBe(10);
    lease.align(0);
    expect(lease.accept(batch(8, 12))).toBe(false);
    lease.align(20);
    expect(lease.fetchOffset).toBe(20);
    expect(lease.accept(batch(20, 22))).toBe(true);
    expect(lease.fetchOffset).toBe(22);
  });

  test('without records moves the offset only when it covers it', () => {
    const lease = held();
    lease.passOver(11, 15);
    lease.passOver(5, 9);
    expect(lease.nextOffset).toBe(10);
    lease.passOver(8, 12);
    expect(lease.nextOffset).toBe(13);
  });
});

test('the next offset is that of the first unfinished record', async () => {
  const lease = held();
  lease.accept({ ...batch(10, 14), endOffset: 16 });
  expect(lease.nextOffset).toBe(10);
  const first = (await lease.take(3, 0))!;
  expect(lease.nextOffset).toBe(10);
  lease.finish(after(first));
  expect(lease.nextOffset).toBe(13);
  lease.finish(after((await lease.take(3, 0))!));
  // The queue is empty, and no records follow the last one.
  expect(lease.nextOffset).toBe(16);
});

test('a halted lease accepts and fetches nothing, and its last records are not finished', async () => {
  const lease = held();
  lease.accept(batch(10, 14));
  lease.finish(after((await lease.take(2, 0))!));
  await lease.take(1, 0);
  lease.halt();
  expect([lease.isOurs, lease.isMoving, lease.wantsFetch, lease.nextOffset]).toEqual([true, false, false, 12]);
  expect(lease.accept(batch(14, 16))).toBe(true);
  const taken = lease.take(1, 0);
  lease.lose();
  expect(await taken).toBeUndefined();
  expect(lease.nextOffset).toBe(12);
});

describe('a lost lease', () => {
  test('hands over nothing more and keeps the finished offset', async () => {
    const lease = held();
    lease.accept(batch(10, 14));
    const first = (await lease.take(2, 0))!;
    lease.lose();
    expect([lease.state, lease.isOurs, lease.wantsFetch]).toEqual(['draining', false, false]);
    lease.finish(after(first));
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
    lease.align(0);
    expect([lease.state, lease.nextOffset, lease.wantsFetch]).toEqual(['draining', 10, false]);
    expect(await lease.take(1, 0)).toBeUndefined();
  });
});

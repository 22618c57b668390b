import type { KafkaMessage } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import type { Position } from '../../../../pipeline/ports.js';
import type { FetchedPartition } from '../read/fetching.js';
import { PartitionAssignment } from './partition-assignment.js';
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
  messages: Array.from({ length: end - from }, (_, i) => message(from + i)),
  nextOffset: end,
  endOffset: end,
});

const endOf = (messages: readonly KafkaMessage[]): Position => ({
  offset: Number(messages.at(-1)!.offset) + 1,
  mark: null,
});

/** Returns an assignment that is held from offset 10. */
function held(): PartitionAssignment {
  const assignment = new PartitionAssignment(3, 'id');
  assignment.start();
  assignment.hold({ offset: 10, mark: null });
  return assignment;
}

/** Fetches up to `end` and hands the result to the assignment. */
async function fetchTo(assignment: PartitionAssignment, end: number): Promise<void> {
  const next = (await assignment.nextFetch())!;
  assignment.accept(next, fetched(next.offset, end));
}

/** What a fetch returns when the records between two offsets were compacted away, of a log that ends at `logEnd`. */
const compacted = (to: number, logEnd = to): FetchedPartition => ({
  messages: [],
  nextOffset: to,
  endOffset: logEnd,
});

const isPending = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => false), new Promise<boolean>((resolve) => setImmediate(resolve, true))]);

describe('a fetch', () => {
  test('is wanted only while the partition is held, from the offset after the last one', async () => {
    const assignment = new PartitionAssignment(3, 'id');
    expect(await assignment.nextFetch()).toBeUndefined();
    assignment.start();
    expect(await assignment.nextFetch()).toBeUndefined();
    assignment.hold({ offset: 10, mark: null });
    await fetchTo(assignment, 13);
    await fetchTo(assignment, 14);
    expect((await assignment.take(10, 0))!.map(({ offset }) => Number(offset))).toEqual([10, 11, 12, 13]);
    expect((await assignment.nextFetch())!.offset).toBe(14);
  });

  test('waits for space in the queue', async () => {
    const assignment = held();
    const next = (await assignment.nextFetch())!;
    const large = { ...message(10), value: Buffer.alloc(maxQueuedBytes) };
    assignment.accept(next, { ...fetched(10, 11), messages: [large] });
    const following = assignment.nextFetch();
    expect(await isPending(following)).toBe(true);
    await assignment.take(1, 0);
    expect((await following)!.offset).toBe(11);
  });

  test('from before a move is discarded, even one to the same offset', async () => {
    const assignment = held();
    const before = (await assignment.nextFetch())!;
    assignment.halt();
    assignment.accept(before, fetched(10, 12));
    assignment.resumeFrom({ offset: 10, mark: null });
    assignment.accept(before, fetched(10, 12));
    expect(assignment.nextOffset).toBe(10);
    await fetchTo(assignment, 11);
    expect((await assignment.take(10, 0))!.map(({ offset }) => Number(offset))).toEqual([10]);
  });

  test('without records moves the offset', async () => {
    const assignment = held();
    const next = (await assignment.nextFetch())!;
    assignment.accept(next, { ...fetched(10, 13), messages: [] });
    expect(assignment.nextOffset).toBe(13);
  });
});

test('the next offset is that of the first unfinished record', async () => {
  const assignment = held();
  assignment.accept((await assignment.nextFetch())!, { ...fetched(10, 14), nextOffset: 16 });
  expect(assignment.nextOffset).toBe(10);
  const first = (await assignment.take(3, 0))!;
  expect(assignment.nextOffset).toBe(10);
  assignment.finish(endOf(first));
  expect(assignment.nextOffset).toBe(13);
  assignment.finish(endOf((await assignment.take(3, 0))!));
  // The queue is empty, and no records follow the last one.
  expect(assignment.nextOffset).toBe(16);
});

test('a halted assignment accepts and fetches nothing, and its last records are not finished', async () => {
  const assignment = held();
  await fetchTo(assignment, 14);
  assignment.finish(endOf((await assignment.take(2, 0))!));
  await assignment.take(1, 0);
  assignment.halt();
  expect([assignment.isOurs, assignment.isMoving, assignment.nextOffset]).toEqual([true, false, 12]);
  const following = assignment.nextFetch();
  const taken = assignment.take(1, 0);
  expect(await isPending(following)).toBe(true);
  assignment.lose();
  expect(await Promise.all([following, taken])).toEqual([undefined, undefined]);
  expect(assignment.nextOffset).toBe(12);
});

describe('a lost assignment', () => {
  test('hands over nothing more and keeps the finished offset', async () => {
    const assignment = held();
    await fetchTo(assignment, 14);
    const first = (await assignment.take(2, 0))!;
    const inFlight = (await assignment.nextFetch())!;
    assignment.lose();
    assignment.accept(inFlight, fetched(14, 16));
    expect([assignment.state, assignment.isOurs, await assignment.nextFetch()]).toEqual(['draining', false, undefined]);
    assignment.finish(endOf(first));
    expect(await assignment.take(2, 0)).toBeUndefined();
    expect(assignment.nextOffset).toBe(12);
    assignment.end();
    expect(assignment.state).toBe('gone');
  });

  test('before the start is never started', () => {
    const assignment = new PartitionAssignment(3, 'id');
    assignment.lose();
    expect(assignment.start()).toBe(false);
    expect(assignment.state).toBe('gone');
  });

  test('during the start is never held', async () => {
    const assignment = new PartitionAssignment(3, 'id');
    assignment.start();
    assignment.lose();
    assignment.hold({ offset: 10, mark: null });
    expect([assignment.state, assignment.nextOffset, await assignment.nextFetch()]).toEqual([
      'draining',
      10,
      undefined,
    ]);
    expect(await assignment.take(1, 0)).toBeUndefined();
  });
});

describe('an end whose records were compacted away', () => {
  test('is returned once, when the records before it are finished', async () => {
    const assignment = held();
    const next = (await assignment.nextFetch())!;
    assignment.verified(0);
    assignment.accept(next, { ...fetched(10, 12), nextOffset: 15, endOffset: 15 });
    const messages = await assignment.take(10, 0);
    expect(assignment.takeEmptyEnd()).toBeUndefined();
    assignment.finish(endOf(messages!));
    expect(assignment.takeEmptyEnd()).toBe(15);
    expect(assignment.takeEmptyEnd()).toBeUndefined();
  });

  test('wakes the taker, although there are no records', async () => {
    const assignment = held();
    assignment.verified(0);
    expect(await assignment.take(10, 0)).toEqual([]);
    const taken = assignment.take(10, 0);
    assignment.accept((await assignment.nextFetch())!, compacted(12));
    expect(await taken).toEqual([]);
    expect(assignment.takeEmptyEnd()).toBe(12);
  });

  test('is not returned before the end of the log, before verification, or after records', async () => {
    const assignment = held();
    assignment.verified(0);
    assignment.accept((await assignment.nextFetch())!, compacted(12, 13));
    expect(assignment.takeEmptyEnd()).toBeUndefined();
    assignment.requireVerification();
    assignment.accept((await assignment.nextFetch())!, compacted(13));
    expect(assignment.takeEmptyEnd()).toBeUndefined();
    assignment.verified(0);
    expect(assignment.takeEmptyEnd()).toBe(13);
    assignment.accept((await assignment.nextFetch())!, fetched(13, 14));
    assignment.finish(endOf((await assignment.take(10, 0))!));
    expect(assignment.takeEmptyEnd()).toBeUndefined();
  });
});

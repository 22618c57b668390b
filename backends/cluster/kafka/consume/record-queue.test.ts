import fc from 'fast-check';
import type { KafkaMessage } from 'kafkajs';
import { expect, test } from 'vitest';
import { maxFetchedBytes } from '../read/fetching.js';
import { maxQueuedBytes, RecordQueue } from './record-queue.js';

const message = (offset: number, bytes = 10): KafkaMessage => ({
  key: null,
  value: Buffer.alloc(bytes),
  timestamp: '0',
  attributes: 0,
  offset: `${offset}`,
  headers: {},
});
const messages = (from: number, count: number, bytes?: number) =>
  Array.from({ length: count }, (_, i) => message(from + i, bytes));
const offsets = (taken: readonly KafkaMessage[] | undefined) => taken?.map(({ offset }) => Number(offset));

test('hands over each record once, in order, at most the requested number at a time', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.record({ push: fc.nat(20) }), fc.record({ take: fc.integer({ min: 1, max: 15 }) })), {
        maxLength: 60,
      }),
      async (steps) => {
        const queue = new RecordQueue();
        let [pushed, taken] = [0, 0];
        for (const step of steps) {
          if ('push' in step) {
            queue.push(messages(pushed, step.push));
            pushed += step.push;
          } else if (queue.size > 0) {
            const count = Math.min(step.take, queue.size);
            expect(offsets(await queue.take(step.take, 0))).toEqual(Array.from({ length: count }, (_, i) => taken + i));
            taken += count;
          }
          expect(queue.size).toBe(pushed - taken);
        }
      },
    ),
  ));

test('take waits for the first record, and then up to the time limit for the rest', async () => {
  const queue = new RecordQueue();
  const whole = queue.take(4, 60_000);
  queue.push(messages(0, 3));
  queue.push(messages(3, 2));
  expect(offsets(await whole)).toEqual([0, 1, 2, 3]);
  const startedMs = performance.now();
  expect(offsets(await queue.take(4, 30))).toEqual([4]);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(25);
});

test('take returns a full queue at once, which then has space again', async () => {
  const queue = new RecordQueue();
  const perFetch = 100;
  let fetches = 0;
  for (; queue.hasRoom; fetches++) queue.push(messages(fetches * perFetch, perFetch, maxFetchedBytes / perFetch));
  expect(fetches * maxFetchedBytes).toBe(maxQueuedBytes);
  expect((await queue.take(1_000_000, 60_000))!.length).toBe(fetches * perFetch);
  expect(queue.hasRoom).toBe(true);
});

test('close wakes the taker and discards everything', async () => {
  for (const waiting of [0, 2]) {
    const queue = new RecordQueue();
    queue.push(messages(0, waiting));
    const taken = queue.take(4, 60_000);
    queue.close();
    expect(await taken).toBeUndefined();
    queue.push(messages(2, 5));
    expect(queue.size).toBe(0);
    expect(await queue.take(1, 0)).toBeUndefined();
  }
});

test('an interrupt does not hand over a part of a batch before its time limit', async () => {
  const queue = new RecordQueue();
  queue.push([message(0)]);
  const interrupted = queue.take(4, 60_000);
  queue.interrupt();
  expect(await interrupted).toEqual([]);
  const whole = queue.take(4, 60_000);
  queue.push([message(1), message(2), message(3)]);
  expect(offsets(await whole)).toEqual([0, 1, 2, 3]);
});

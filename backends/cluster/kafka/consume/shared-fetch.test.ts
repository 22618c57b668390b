import type { Broker } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../testing/until.js';
import type { Brokers } from '../connection/brokers.js';
import type { FetchedPartition } from '../read/fetching.js';
import { sharedFetch } from './shared-fetch.js';

interface Request {
  readonly maxWaitTime: number;
  readonly topics: readonly [
    { readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[] },
  ];
}

/** A broker whose logs end at offset 9. The test says when it answers, and which partition has records. */
class HeldBroker {
  readonly requests: Request[] = [];
  #answer: ((withRecords: number | undefined) => void) | undefined;

  readonly brokers = {
    leaderOf: async () => 1,
    request: (_: number, send: (broker: Broker) => Promise<unknown>) => send(this as unknown as Broker),
  } as unknown as Brokers;

  async fetch(request: Request): Promise<unknown> {
    this.requests.push(request);
    const withRecords = await new Promise((resolve) => {
      this.#answer = resolve;
    });
    const partitions = request.topics[0].partitions.map(({ partition, fetchOffset }) => ({
      partition,
      highWatermark: '9',
      messages: partition === withRecords ? [{ offset: fetchOffset, value: Buffer.from('x') }] : [],
    }));
    return { responses: [{ partitions }] };
  }

  /** Waits for request number `index`, and returns its partitions in order. */
  async requested(index: number): Promise<number[]> {
    await until(() => this.requests.length > index);
    return this.requests[index]!.topics[0].partitions.map(({ partition }) => partition);
  }

  answer(withRecords?: number): void {
    this.#answer!(withRecords);
  }
}

const at = (partition: number, offset = 3) => ({ partition, offset, maxBytes: 100 });
const outcomeOf = ({ messages, nextOffset }: FetchedPartition) => [messages.length, nextOffset];

describe('the wait for records', () => {
  test('is long when all partitions take part, and short when one may follow', async () => {
    const broker = new HeldBroker();
    const fetch = sharedFetch(broker.brokers, 'topic', () => [0, 1]);
    const both = Promise.all([fetch(at(0)), fetch(at(1))]);
    expect(await broker.requested(0)).toEqual([0, 1]);
    broker.answer();
    await both;
    const one = fetch(at(0));
    await broker.requested(1);
    broker.answer();
    await one;
    expect(broker.requests.map(({ maxWaitTime }) => maxWaitTime)).toEqual([1_000, 250]);
  });
});

describe('a response that records of one partition fill', () => {
  test('leaves the others first in the next requests', async () => {
    const broker = new HeldBroker();
    const fetch = sharedFetch(broker.brokers, 'topic', () => [0, 1, 2]);
    const [first, second, third] = [fetch(at(0)), fetch(at(1)), fetch(at(2))];
    await broker.requested(0);
    broker.answer(0);
    expect(outcomeOf(await first)).toEqual([1, 4]);
    const again = fetch(at(0, 4));
    expect(await broker.requested(1)).toEqual([1, 2, 0]);
    broker.answer(1);
    expect(outcomeOf(await second)).toEqual([1, 4]);
    expect(await broker.requested(2)).toEqual([2, 0]);
    broker.answer(2);
    expect(outcomeOf(await third)).toEqual([1, 4]);
    expect(await broker.requested(3)).toEqual([0]);
    broker.answer(0);
    expect(outcomeOf(await again)).toEqual([1, 5]);
  });

  test('is not waited for forever by a partition whose next records are gone', async () => {
    const broker = new HeldBroker();
    const fetch = sharedFetch(broker.brokers, 'topic', () => [0, 1]);
    const gone = fetch(at(1));
    for (let index = 0; index < 2; index++) {
      const busy = fetch(at(0, 3 + index));
      await broker.requested(index);
      broker.answer(0);
      await busy;
    }
    expect(outcomeOf(await gone)).toEqual([0, 3]);
  });
});

test('a partition that left and came back while a request was in flight is requested once', async () => {
  const broker = new HeldBroker();
  const fetch = sharedFetch(broker.brokers, 'topic', () => [0, 1]);
  const inFlight = fetch(at(1));
  await broker.requested(0);
  const [left, back] = [fetch(at(0, 7)), fetch(at(0, 3))];
  broker.answer(1);
  await inFlight;
  await broker.requested(1);
  expect(broker.requests[1]!.topics[0].partitions).toMatchObject([{ partition: 0, fetchOffset: '3' }]);
  broker.answer(0);
  expect([outcomeOf(await left), outcomeOf(await back)]).toEqual([
    [0, 7],
    [1, 4],
  ]);
});

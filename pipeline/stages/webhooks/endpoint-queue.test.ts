import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codecs } from '../../../schemas/codecs.js';
import type { Delivery } from '../../../schemas/records.js';
import { scope } from '../../catalog/testing/fixtures.js';
import type { Settlement, WaitingDelivery } from '../../ports.js';
import { noMetrics } from '../metrics.js';
import type { ClaimedSource, LoadedDelivery } from './claimed-source.js';
import { EndpointQueue } from './endpoint-queue.js';
import { LoadedDeliveries } from './loaded-deliveries.js';
import { webhookId } from './testing/webhooks.js';

const webhook = webhookId(1);

const delivery = (number: number): Delivery => ({
  id: `delivery ${number}`,
  webhook,
  ...scope,
  orderKey: `device ${number}`,
  events: [],
  body: Buffer.of(0),
  reason: 'event',
  createdAt: 0,
});

/**
 * A queue whose reads and writes take effect at one moment and resolve at a later one, both under control of the test.
 */
class SlowQueue {
  readonly stored = new Map<number, WaitingDelivery>();
  /** Ids of deliveries for which a redelivery was requested. */
  readonly replaced = new Set<string>();
  /** Sequences of replaced deliveries that were removed. */
  readonly removed = new Set<number>();
  /** A pending read: first performed, then answered. */
  #pendingRead: { limit: number; found?: WaitingDelivery[]; answer: (found: WaitingDelivery[]) => void } | undefined;

  readonly source = {
    nextSequence: 0,
    waiting: (_: string, limit: number) =>
      new Promise((answer) => {
        this.#pendingRead = { limit, answer };
      }),
    replacedAt: (_: string, ids: readonly string[]) =>
      new Promise((answer) => {
        this.#pendingReplacements = { ids, answer };
      }),
    acknowledge: async (settlements: readonly Settlement[]) => {
      for (const { place } of settlements) {
        this.stored.delete(place.sequence);
        this.removed.add(place.sequence);
      }
      return true;
    },
  } as unknown as ClaimedSource;

  read(): void {
    if (this.#pendingRead === undefined) return;
    const byPlace = [...this.stored.values()].sort((a, b) => a.dueAtMs - b.dueAtMs || a.sequence - b.sequence);
    this.#pendingRead.found ??= byPlace.slice(0, this.#pendingRead.limit);
  }

  /** A pending read of replacements, which follows each read of the queue. */
  #pendingReplacements: { ids: readonly string[]; answer: (times: (number | undefined)[]) => void } | undefined;

  /** Resolves the pending read: of the queue first, of the replacements next. */
  async answer(): Promise<void> {
    const pending = this.#pendingReplacements;
    this.#pendingReplacements = undefined;
    pending?.answer(pending.ids.map((id) => (this.replaced.has(id) ? 1 : undefined)));
    if (pending === undefined) this.#answerRead();
    await new Promise(setImmediate);
  }

  #answerRead(): void {
    this.read();
    const reading = this.#pendingRead;
    this.#pendingRead = undefined;
    reading?.answer(reading.found as WaitingDelivery[]);
  }
}

type Step =
  | 'queue'
  | 'replace'
  | 'offer'
  | 'load'
  | 'read'
  | 'answer'
  | 'take'
  | 'acknowledge'
  | 'reschedule'
  | 'hear'
  | 'release'
  | 'pass';
const steps = fc.array(
  fc.constantFrom<Step[]>(
    'queue',
    'queue',
    'replace',
    'offer',
    'load',
    'read',
    'answer',
    'take',
    'acknowledge',
    'reschedule',
    'hear',
    'release',
    'pass',
  ),
  { maxLength: 200, size: 'max' },
);

const noKeys = new Set<string>();
const maxWindow = 3;

const newLoaded = (maxBytesOfProject = 1_000) =>
  new LoadedDeliveries({ maxLoadedDeliveries: 1_000, maxLoadedBytes: 2 * maxBytesOfProject });

test('loses nothing, takes nothing twice and keeps first attempts in order under any interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(1, 2, 1_000), async (drawn, maxBytes) => {
      const queue = new SlowQueue();
      const loaded = newLoaded(maxBytes);
      const endpointQueue = new EndpointQueue(
        { source: queue.source, webhook, codec: codecs.delivery, loaded, metrics: noMetrics },
        Number.POSITIVE_INFINITY,
      );
      let nowMs = 0;
      let made = 0;
      const toOffer: LoadedDelivery[] = [];
      const underWay: LoadedDelivery[] = [];
      const toHear: { loaded: LoadedDelivery; nextDueAtMs: number | null }[] = [];
      const firstAttempts: number[] = [];
      const gone = new Set<number>();

      const perform: Record<Step, () => void | Promise<void>> = {
        queue() {
          const place = { webhook, dueAtMs: nowMs, sequence: made };
          queue.stored.set(made, { ...place, attempts: 0, value: codecs.delivery.encode(delivery(made)) });
          toOffer.push({ place, attempts: 0, delivery: delivery(made), appendedAtMs: nowMs });
          made += 1;
        },
        replace() {
          queue.replaced.add(delivery(made - 1).id);
        },
        offer() {
          const loaded = toOffer.shift();
          if (loaded) endpointQueue.offer(loaded, maxWindow);
        },
        load() {
          if (!endpointQueue.isLoading && endpointQueue.hasRoom(maxWindow) && endpointQueue.storedDueAtMs <= nowMs)
            void endpointQueue.load(maxWindow, nowMs);
        },
        read: () => queue.read(),
        answer: () => queue.answer(),
        take() {
          const loaded = endpointQueue.take(noKeys);
          if (loaded === undefined) return;
          const { sequence } = loaded.place;
          expect(underWay.map(({ place }) => place.sequence)).not.toContain(sequence);
          expect(toHear.map(({ loaded: { place } }) => place.sequence)).not.toContain(sequence);
          expect(gone).not.toContain(sequence);
          expect(queue.removed).not.toContain(sequence);
          if (loaded.attempts === 0) firstAttempts.push(sequence);
          underWay.push(loaded);
        },
        acknowledge: () => write(null),
        reschedule: () => write(nowMs + 2),
        hear() {
          // An addition resolves before an acknowledgement that was written after it.
          while (toOffer.length > 0) perform.offer();
          const heard = toHear.shift();
          if (heard) endpointQueue.acknowledged(heard.loaded, heard.nextDueAtMs);
        },
        release: () => endpointQueue.release(1),
        pass() {
          nowMs += 1;
        },
      };

      function write(nextDueAtMs: number | null): void {
        const loaded = underWay.shift();
        if (loaded === undefined) return;
        const { sequence } = loaded.place;
        const stored = queue.stored.get(sequence) as WaitingDelivery;
        queue.stored.delete(sequence);
        if (nextDueAtMs === null) gone.add(sequence);
        else queue.stored.set(sequence, { ...stored, dueAtMs: nextDueAtMs, attempts: stored.attempts + 1 });
        toHear.push({ loaded, nextDueAtMs });
      }

      for (const step of drawn) await perform[step]();
      // Finish everything that is pending: enough rounds for all deliveries.
      for (let round = 0; round < 2 * made + 10; round++) {
        for (const step of [
          'offer',
          'answer',
          'answer',
          'load',
          'answer',
          'answer',
          'take',
          'acknowledge',
          'hear',
          'pass',
        ] as const)
          await perform[step]();
      }
      expect(gone.size + queue.removed.size).toBe(made);
      expect([...queue.removed].every((sequence) => queue.replaced.has(delivery(sequence).id))).toBe(true);
      expect(endpointQueue.isEmpty).toBe(true);
      expect(loaded).toMatchObject({ count: 0, bytes: 0 });
      const all = Array.from({ length: made }, (_, sequence) => sequence);
      expect(firstAttempts).toEqual(
        all.filter((sequence) => firstAttempts.includes(sequence) || !queue.removed.has(sequence)),
      );
    }),
    { numRuns: 400 },
  );
});

test('removes a retry that was replaced before it was loaded', async () => {
  const queue = new SlowQueue();
  const loaded = newLoaded();
  const source = Object.assign(queue.source, { nextSequence: 2 });
  const endpointQueue = new EndpointQueue({ source, webhook, codec: codecs.delivery, loaded, metrics: noMetrics }, 0);
  for (const sequence of [0, 1]) {
    const value = codecs.delivery.encode(delivery(sequence));
    queue.stored.set(sequence, { webhook, dueAtMs: 1, sequence, attempts: 3, value });
  }
  queue.replaced.add(delivery(0).id);
  void endpointQueue.load(maxWindow, 1);
  await queue.answer();
  await queue.answer();
  expect([endpointQueue.take(noKeys)?.place.sequence, endpointQueue.take(noKeys)]).toEqual([1, undefined]);
  expect([[...queue.removed], loaded.count]).toEqual([[0], 0]);
});

test('a load that ends after the queue was abandoned loads nothing', async () => {
  const queue = new SlowQueue();
  const loaded = newLoaded();
  const endpointQueue = new EndpointQueue(
    { source: queue.source, webhook, codec: codecs.delivery, loaded, metrics: noMetrics },
    0,
  );
  queue.stored.set(0, { webhook, dueAtMs: 1, sequence: 0, attempts: 0, value: codecs.delivery.encode(delivery(0)) });
  void endpointQueue.load(maxWindow, 1);
  endpointQueue.abandon();
  await queue.answer();
  await queue.answer();
  expect([endpointQueue.take(noKeys), loaded.count]).toEqual([undefined, 0]);
});

test('regression: a delivery was sent twice when a load found it before it was offered', async () => {
  const queue = new SlowQueue();
  const endpointQueue = new EndpointQueue(
    { source: queue.source, webhook, codec: codecs.delivery, loaded: newLoaded(), metrics: noMetrics },
    0,
  );
  const place = { webhook, dueAtMs: 1, sequence: 0 };
  queue.stored.set(0, { ...place, attempts: 0, value: codecs.delivery.encode(delivery(0)) });
  void endpointQueue.load(maxWindow, 1);
  await queue.answer();
  await queue.answer();
  endpointQueue.offer({ place, attempts: 0, delivery: delivery(0), appendedAtMs: 0 }, maxWindow);
  expect([endpointQueue.take(noKeys)?.place, endpointQueue.take(noKeys)]).toEqual([place, undefined]);
});

// 20,000 deliveries of users with much metadata had gigabytes in memory, while their endpoint answered slowly.
test('regression: loads no more deliveries than a budget of bytes allows, but at least one', async () => {
  const queue = new SlowQueue();
  const loaded = newLoaded(1_500);
  const large = (number: number): Delivery => ({ ...delivery(number), body: Buffer.alloc(1_000) });
  const parts = { source: queue.source, webhook, codec: codecs.delivery, loaded, metrics: noMetrics };
  const offered = new EndpointQueue(parts, Number.POSITIVE_INFINITY);
  for (const sequence of [0, 1, 2]) {
    const place = { webhook, dueAtMs: 1, sequence };
    offered.offer({ place, attempts: 0, delivery: large(sequence), appendedAtMs: 0 }, maxWindow);
  }
  expect(loaded).toMatchObject({ count: 2, bytes: 2_000 });

  const loading = new EndpointQueue(parts, 0);
  for (const sequence of [0, 1, 2])
    queue.stored.set(sequence, {
      webhook,
      dueAtMs: 1,
      sequence,
      attempts: 0,
      value: codecs.delivery.encode(large(sequence)),
    });
  void loading.load(maxWindow, 1);
  await queue.answer();
  await queue.answer();
  expect(loaded).toMatchObject({ count: 3, bytes: 3_000 });
  expect(loading.storedDueAtMs).toBe(1);
  offered.abandon();
  expect(loading.take(noKeys)?.place.sequence).toBe(0);
  expect(loaded).toMatchObject({ count: 0, bytes: 0 });
});

/**
 * The contract of every DeliveryQueue: deliveries and position are written atomically, by the last claimant
 * only, and keep their order.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DeliveryPlace, DeliveryQueue, Settlement, WaitingDelivery } from '../../pipeline/ports.js';
import { hourMs } from '../../schemas/durations.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { type BackendSite, onFreshBackend, onFreshSite } from './backend.js';
import {
  type Added,
  anyStep,
  batchOf,
  hooks,
  noon,
  RunBesideModel,
  sources,
  webhooksOf,
} from './delivery-queue.model.js';

const source = sources[0]!;
const [hook, otherHook] = [hooks[1]!, hooks[2]!];

const due = (dueAtMs: number, text: string, webhook = hook): Added => ({ webhook, dueAtMs, text });

const textsOf = (waiting: readonly WaitingDelivery[]): string[] => waiting.map(({ value }) => value.toString());

const gone = (place: DeliveryPlace): Settlement => ({ place, next: null });
const again = (place: DeliveryPlace, dueAtMs: number, attempts: number): Settlement => ({
  place,
  next: { dueAtMs, attempts },
});

/** Defines the tests of the contract for one implementation. `site` makes a new place for each test. */
export function describeDeliveryQueueContract(name: string, site: () => Promise<BackendSite>): void {
  const onQueue = (use: (queue: DeliveryQueue) => Promise<void>) => () =>
    onFreshBackend(site, ({ deliveryQueue }) => use(deliveryQueue));

  describe(`${name}: delivery queue`, () => {
    test(
      'a mark is stored with its position until a batch has another one or none; reading it affects no claim',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        expect(claim.mark).toBeNull();
        await queue.add(claim, { expectedOffset: 0, nextOffset: 3, mark: '2:1:1000:ab', deliveries: [] });
        expect(await queue.position(source)).toEqual({ offset: 3, mark: '2:1:1000:ab' });
        const next = await queue.claim(source);
        expect(next).toMatchObject({ nextOffset: 3, mark: '2:1:1000:ab' });
        expect(await queue.add(next, { expectedOffset: 3, nextOffset: 1, deliveries: [] })).toBe('committed');
        expect(await queue.position(source)).toEqual({ offset: 1, mark: null });
      }),
    );

    test(
      'a claim is held through its own changes until the next claim',
      onQueue(async (queue) => {
        const first = await queue.claim(source);
        await queue.add(first, { expectedOffset: 0, nextOffset: 3, deliveries: [] });
        await queue.settle(first, []);
        expect(await queue.verify([first])).toEqual(['held']);
        const second = await queue.claim(source);
        expect(await queue.verify([first, second])).toEqual(['claimed', 'held']);
      }),
    );

    test(
      'a queue starts empty at offset 0, and each claim has a higher token',
      onQueue(async (queue) => {
        const first = await queue.claim(source);
        const second = await queue.claim(source);
        expect(first).toMatchObject({ source, nextOffset: 0 });
        expect(second.token).toBeGreaterThan(first.token);
        expect(second.nextSequence).toBe(first.nextSequence);
        expect(await queue.waiting(source, hook, 10)).toEqual([]);
        expect(await queue.webhooks(source)).toEqual([]);
        expect(await queue.size()).toBe(0);
      }),
    );

    test(
      'deliveries are ordered by due time and arrival, and their sequences continue from the claim',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        await queue.add(claim, batchOf(0, 3, [due(noon + 5, 'c'), due(noon, 'a'), due(noon + 7, 'x', otherHook)]));
        await queue.add(claim, batchOf(3, 9, [due(noon + 5, 'd'), due(noon, 'b'), due(0, 'first')]));
        const waiting = await queue.waiting(source, hook, 10);
        expect(textsOf(waiting)).toEqual(['first', 'a', 'b', 'c', 'd']);
        expect(waiting.map(({ sequence }) => sequence - claim.nextSequence)).toEqual([5, 1, 4, 0, 3]);
        expect(waiting.map(({ webhook, attempts }) => [webhook, attempts])).toEqual(waiting.map(() => [hook, 0]));
        const first = [
          [hook, 0],
          [otherHook, noon + 7],
        ];
        expect(await webhooksOf(queue, source)).toEqual(first);
        const next = await queue.claim(source);
        expect([next.nextOffset, next.nextSequence - claim.nextSequence]).toEqual([9, 6]);
      }),
    );

    test(
      'reading continues after a place, even if it is empty by now',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        const texts = ['a', 'b', 'c', 'd', 'e'];
        await queue.add(
          claim,
          batchOf(
            0,
            1,
            texts.map((text, i) => due(noon + Math.floor(i / 2), text)),
          ),
        );
        const all = await queue.waiting(source, hook, 10);
        await queue.settle(claim, [gone(all[1]!)]);
        for (const [i, place] of all.entries()) {
          const rest = texts.slice(i + 1).filter((text) => text !== 'b');
          expect(textsOf(await queue.waiting(source, hook, 10, place))).toEqual(rest);
          expect(textsOf(await queue.waiting(source, hook, 2, place))).toEqual(rest.slice(0, 2));
        }
      }),
    );

    test(
      'a settled delivery is removed, or queued for its next attempt; unknown places are skipped',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        await queue.add(claim, batchOf(0, 1, [due(noon, 'a'), due(noon, 'b'), due(noon, 'c'), due(noon + 9, 'd')]));
        const [a, b, c, d] = (await queue.waiting(source, hook, 10)) as [
          WaitingDelivery,
          WaitingDelivery,
          WaitingDelivery,
          WaitingDelivery,
        ];
        const result = await queue.settle(claim, [
          gone(a),
          again(b, noon + 60_000, 3),
          gone({ ...c, webhook: otherHook }),
          gone({ ...c, dueAtMs: noon + 1 }),
          again({ ...c, sequence: c.sequence + 100 }, noon, 1),
        ]);
        expect(result).toBe('committed');
        const moved = { ...b, dueAtMs: noon + 60_000, attempts: 3 };
        expect(await queue.waiting(source, hook, 10)).toEqual([c, d, moved]);
        expect(await queue.size()).toBe(3);
        expect(await queue.settle(claim, [gone(a), gone(b)])).toBe('committed');
        expect(await queue.settle(claim, [gone(moved), again(d, noon - 1, 1)])).toBe('committed');
        expect(textsOf(await queue.waiting(source, hook, 10))).toEqual(['d', 'c']);
        expect(await webhooksOf(queue, source)).toEqual([[hook, noon - 1]]);
        expect(await queue.size()).toBe(2);
      }),
    );

    test(
      'a drop removes all deliveries of one webhook, however many, and no others',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        const other = await queue.claim(sources[1]!);
        await queue.add(other, batchOf(0, 1, [due(noon, 'of another source')]));
        const many = Array.from({ length: 1_700 }, (_, i) => due(noon + (i % 7), `${i}`));
        await queue.add(claim, batchOf(0, 1, [...many, due(noon, 'of another webhook', otherHook)]));
        expect(await queue.drop(claim, hook)).toBe('committed');
        expect(await queue.waiting(source, hook, 10)).toEqual([]);
        expect(textsOf(await queue.waiting(source, otherHook, 10))).toEqual(['of another webhook']);
        expect(textsOf(await queue.waiting(sources[1]!, hook, 10))).toEqual(['of another source']);
        expect(await queue.size()).toBe(2);
        expect(await queue.drop(claim, hook)).toBe('committed');
        await queue.add(claim, batchOf(1, 2, [due(noon, 'after')]));
        expect(textsOf(await queue.waiting(source, hook, 10))).toEqual(['after']);
      }),
    );

    test(
      'erasing removes deliveries under any claim, whose owner goes on and skips them',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        const many = Array.from({ length: 1_200 }, (_, i) => due(noon, `${i}`));
        await queue.add(claim, batchOf(0, 1, [...many, due(noon, 'of another webhook', otherHook)]));
        const waiting = await queue.waiting(source, hook, 2_000);
        await queue.erase(source, hook, waiting.slice(1));
        await queue.erase(source, hook, waiting.slice(1, 3));
        expect(textsOf(await queue.waiting(source, hook, 10))).toEqual(['0']);
        expect(await queue.size()).toBe(2);
        expect(await queue.settle(claim, [gone(waiting[1]!), again(waiting[2]!, noon + 1, 1)])).toBe('committed');
        expect(textsOf(await queue.waiting(source, hook, 10))).toEqual(['0']);
        expect(await queue.size()).toBe(2);
        await queue.erase(source, hook, waiting.slice(0, 1));
        expect((await queue.webhooks(source)).map(({ webhook }) => webhook)).toEqual([otherHook]);
        expect(await queue.add(claim, batchOf(1, 2, [due(noon, 'after')]))).toBe('committed');
        expect(textsOf(await queue.waiting(source, hook, 10))).toEqual(['after']);
        expect(await queue.verify([claim])).toEqual(['held']);
      }),
    );

    test(
      "an older claim can't add, settle or drop",
      onQueue(async (queue) => {
        const older = await queue.claim(source);
        await queue.add(older, batchOf(0, 1, [due(noon, 'a'), due(noon, 'b')]));
        const newer = await queue.claim(source);
        const before = await queue.waiting(source, hook, 10);
        expect(await queue.add(older, batchOf(1, 2, [due(noon, 'zombie')]))).toBe('fenced');
        expect(await queue.settle(older, [gone(before[0]!), again(before[1]!, noon + 1, 1)])).toBe('fenced');
        expect(await queue.drop(older, hook)).toBe('fenced');
        expect(await queue.waiting(source, hook, 10)).toEqual(before);
        expect(await queue.size()).toBe(2);
        expect(await queue.add(newer, batchOf(1, 2, [due(noon, 'c')]))).toBe('committed');
        expect(textsOf(await queue.waiting(source, hook, 10))).toEqual(['a', 'b', 'c']);
      }),
    );

    test(
      'a batch from another position writes nothing; of concurrent batches from one position exactly one wins',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        await queue.add(claim, batchOf(0, 10, [due(noon, 'a')]));
        for (const expected of [0, 9, 11])
          expect(await queue.add(claim, batchOf(expected, 20, [due(noon, 'no')]))).toBe('fenced');
        const racing = Array.from({ length: 8 }, (_, i) =>
          queue.add(claim, batchOf(10, 11, [due(noon, `${i}`), due(noon, `${i}`)])),
        );
        const results = await Promise.all(racing);
        expect(results.filter((each) => each === 'committed').length).toBe(1);
        const winner = `${results.indexOf('committed')}`;
        expect(textsOf(await queue.waiting(source, hook, 10))).toEqual(['a', winner, winner]);
        expect(await queue.claim(source)).toMatchObject({ nextOffset: 11, nextSequence: claim.nextSequence + 3 });
        expect(await queue.size()).toBe(3);
      }),
    );

    test(
      'a batch with one invalid delivery is rejected as a whole',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        const batch = batchOf(0, 1, [due(noon, 'a'), due(noon, 'b', 'no id')]);
        await expect(queue.add(claim, batch)).rejects.toThrow('no id');
        expect(await queue.size()).toBe(0);
        expect((await queue.claim(source)).nextOffset).toBe(0);
      }),
    );

    test(
      'values are returned unchanged, and are not changed afterwards',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        const values = [
          Buffer.alloc(0),
          Buffer.from([0, 255, 13, 10, 0]),
          Buffer.alloc(200_000, 'long'),
          Buffer.alloc(3_000, 'x'),
        ];
        const deliveries = values.map((value) => ({ webhook: hook, dueAtMs: noon, value }));
        await queue.add(claim, { expectedOffset: 0, nextOffset: 1, deliveries });
        const read = await queue.waiting(source, hook, 10);
        await queue.settle(
          claim,
          read.map((place) => again(place, noon + 1, 1)),
        );
        await queue.waiting(source, hook, 10);
        await queue.drop(claim, hook);
        const others = values.map(({ length }) => ({
          webhook: hook,
          dueAtMs: noon,
          value: Buffer.alloc(length, 'other'),
        }));
        await queue.add(claim, { expectedOffset: 1, nextOffset: 2, deliveries: others });
        await queue.waiting(source, hook, 10);
        for (const [i, { value }] of read.entries()) expect(value.equals(values[i]!)).toBe(true);
      }),
    );

    test(
      'thousands of webhooks are listed once each, with their first due time',
      onQueue(async (queue) => {
        const claim = await queue.claim(source);
        const ids = Array.from({ length: 2_500 }, (_, i) => (i * 40_503).toString(16).padStart(24, '0'));
        const added = ids.flatMap((webhook, i) => [
          due(noon + 9, 'later', webhook),
          due(noon + (i % 5), 'first', webhook),
        ]);
        await queue.add(claim, batchOf(0, 1, added));
        expect(await webhooksOf(queue, source)).toEqual(ids.map((webhook, i) => [webhook, noon + (i % 5)]));
      }),
    );

    test('a replacement is read by webhook and delivery; the last one counts and survives a reopen', () =>
      onFreshSite(site, async (place) => {
        let backend = await place.open();
        const { replace, replacedAt } = backend.deliveryQueue;
        expect(await replacedAt(hook, [])).toEqual([]);
        expect(await replacedAt(hook, ['a', 'b'])).toEqual([undefined, undefined]);
        const many = Array.from({ length: 1_500 }, (_, i) => ({ delivery: `${i}`, createdAtMs: noon + i }));
        await replace(hook, many, hourMs);
        await replace(hook, [{ delivery: 'a', createdAtMs: noon }], hourMs);
        await replace(hook, [{ delivery: 'a', createdAtMs: noon + 5 }], hourMs);
        await replace(otherHook, [{ delivery: 'b', createdAtMs: noon }], hourMs);
        await backend.close();
        backend = await place.open();
        const { deliveryQueue } = backend;
        expect(await deliveryQueue.replacedAt(hook, ['b', 'a', '7', '1499'])).toEqual([
          undefined,
          noon + 5,
          noon + 7,
          noon + 1_499,
        ]);
        expect(await deliveryQueue.replacedAt(otherHook, ['a', 'b'])).toEqual([undefined, noon]);
        await backend.close();
      }));

    // The health of a deleted webhook was never removed.
    test(
      'the health of a webhook that gets no more deliveries ends, as others are written later',
      onQueue(async (queue) => {
        const retentionMs = 50;
        const stored = { failingSinceMs: noon, lastSuccessAtMs: noon - hourMs };
        await queue.setHealth(hook, stored, hourMs);
        expect(await queue.health(hook)).toEqual(stored);
        await queue.setHealth(hook, stored, retentionMs);
        const later = { failingSinceMs: null, lastSuccessAtMs: noon + retentionMs + 1 };
        const written = async () => {
          await queue.setHealth(otherHook, later, retentionMs);
          return queue.health(hook);
        };
        await expect.poll(written).toEqual({ failingSinceMs: null, lastSuccessAtMs: null });
      }),
    );

    test('the health of a webhook is unknown until it is set, and survives a reopen', () =>
      onFreshSite(site, async (place) => {
        let backend = await place.open();
        const unknown = { failingSinceMs: null, lastSuccessAtMs: null };
        expect(await backend.deliveryQueue.health(hook)).toEqual(unknown);
        const healths = [
          { failingSinceMs: noon, lastSuccessAtMs: null },
          { failingSinceMs: noon, lastSuccessAtMs: noon - 5 },
          { failingSinceMs: null, lastSuccessAtMs: 0 },
        ];
        for (const health of healths) {
          await backend.deliveryQueue.setHealth(hook, health, hourMs);
          expect(await backend.deliveryQueue.health(hook)).toEqual(health);
        }
        const claim = await backend.deliveryQueue.claim(source);
        await backend.deliveryQueue.add(claim, batchOf(0, 7, [due(noon, 'a'), due(noon, 'b')]));
        const [a, b] = await backend.deliveryQueue.waiting(source, hook, 2);
        await backend.deliveryQueue.settle(claim, [gone(a!), again(b!, noon + 1, 2)]);
        await backend.close();

        backend = await place.open();
        expect(await backend.deliveryQueue.health(hook)).toEqual(healths.at(-1));
        expect(await backend.deliveryQueue.health(otherHook)).toEqual(unknown);
        expect(await backend.deliveryQueue.waiting(source, hook, 2)).toEqual([
          { ...b!, dueAtMs: noon + 1, attempts: 2 },
        ]);
        const next = await backend.deliveryQueue.claim(source);
        expect(next.token).toBeGreaterThan(claim.token);
        expect(next).toMatchObject({ nextOffset: 7, nextSequence: claim.nextSequence + 2 });
        await backend.close();
      }));

    test('any sequence of operations and reopens by two owners matches a model of plain lists', () =>
      fc.assert(
        fc.asyncProperty(fc.array(anyStep, { maxLength: 40 }), (steps) =>
          onFreshSite(site, async (place) => {
            const run = new RunBesideModel(place);
            await run.start();
            for (const step of steps) await run.take(step);
            await run.end();
          }),
        ),
        { numRuns: propertyRuns(60) },
      ));
  });
}

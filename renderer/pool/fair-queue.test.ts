import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FairQueue } from './fair-queue.js';

interface Job {
  readonly owner: string;
  readonly costMs: number;
  readonly id: number;
}

const anyJob = (): boolean => true;
let ids = 0;
const job = (owner: string, costMs: number): Job => ({ owner, costMs, id: ids++ });

function served(queue: FairQueue<Job>, count: number, fits: (job: Job) => boolean = anyJob): Job[] {
  return Array.from({ length: count }, () => queue.next(fits)).filter((each) => each !== undefined);
}

describe('a fair queue', () => {
  test('serves another owner next, although many jobs of one owner wait', () => {
    const queue = new FairQueue<Job>();
    for (let i = 0; i < 100; i++) queue.push(job('abuser', 1_000));
    served(queue, 10);
    const victim = job('victim', 10);
    queue.push(victim);
    expect(queue.next(anyJob)).toBe(victim);
  });

  test('gives owners equal processor time for jobs of different costs', () => {
    const cost = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(
        fc.array(cost, { minLength: 50, maxLength: 100 }),
        fc.array(cost, { minLength: 50, maxLength: 100 }),
        (a, b) => {
          const queue = new FairQueue<Job>();
          for (const costMs of a) queue.push(job('a', costMs));
          for (const costMs of b) queue.push(job('b', costMs));
          const given = { a: 0, b: 0 };
          const left = { a: a.length, b: b.length };
          while (left.a > 0 && left.b > 0) {
            const next = queue.next(anyJob) as Job;
            given[next.owner as 'a' | 'b'] += next.costMs;
            left[next.owner as 'a' | 'b'] -= 1;
            // At most one job of each owner apart.
            expect(Math.abs(given.a - given.b)).toBeLessThanOrEqual(200);
          }
        },
      ),
    );
  });

  test('gives an owner no credit for idle time', () => {
    const queue = new FairQueue<Job>();
    queue.push(job('late', 10));
    served(queue, 1);
    for (let i = 0; i < 50; i++) queue.push(job('busy', 100));
    served(queue, 25);
    for (let i = 0; i < 50; i++) queue.push(job('late', 100));
    const next = served(queue, 20).map(({ owner }) => owner);
    expect(next.filter((owner) => owner === 'busy').length).toBeGreaterThanOrEqual(9);
  });

  test('forgives debts from a time when nobody else waited', () => {
    const queue = new FairQueue<Job>();
    queue.push(job('alone', 10));
    served(queue, 1);
    queue.correct('alone', 5_000);
    queue.startBusyPeriod();
    for (let i = 0; i < 50; i++) queue.push(job('busy', 10));
    queue.push(job('alone', 10));
    expect(served(queue, 2).map(({ owner }) => owner)).toContain('alone');
  });

  test('lets others start at most the cost of the previous job, plus one job, while a job waits', () => {
    const maxCostMs = 100;
    const cost = fc.integer({ min: 1, max: maxCostMs });
    const visits = fc.array(fc.record({ costMs: cost, measuredMs: cost, others: fc.array(cost, { maxLength: 6 }) }), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(visits, fc.array(cost, { minLength: 600, maxLength: 600 }), (rounds, backlog) => {
        const queue = new FairQueue<Job>();
        for (const costMs of backlog) queue.push(job('many', costMs));
        let previousMs = 0;
        for (const { costMs, measuredMs, others } of rounds) {
          served(queue, others.length);
          const own = job('one', costMs);
          queue.push(own);
          let startedMs = 0;
          for (let next = queue.next(anyJob); next !== own; next = queue.next(anyJob)) startedMs += next!.costMs;
          expect(startedMs).toBeLessThanOrEqual(previousMs + maxCostMs);
          queue.correct('one', measuredMs - costMs);
          previousMs = measuredMs;
        }
      }),
    );
  });

  test('charges the difference between measured and estimated time', () => {
    const queue = new FairQueue<Job>();
    queue.push(job('a', 10));
    queue.push(job('b', 10));
    expect(served(queue, 2).map(({ owner }) => owner)).toEqual(['a', 'b']);
    queue.correct('a', 1_000);
    for (let i = 0; i < 10; i++) for (const owner of ['a', 'b']) queue.push(job(owner, 10));
    expect(new Set(served(queue, 10).map(({ owner }) => owner))).toEqual(new Set(['b']));
  });

  test('prefers small jobs of an owner, but limits how often a large job is overtaken', () => {
    const queue = new FairQueue<Job>();
    const large = job('a', 1_000);
    queue.push(large);
    for (let i = 0; i < 50; i++) queue.push(job('a', 10));
    const order = served(queue, 51);
    expect(order.indexOf(large)).toBe(8);
    expect(order).toHaveLength(51);
  });

  test('skips a job that does not fit, and keeps it', () => {
    const queue = new FairQueue<Job>();
    const large = job('a', 1_000);
    queue.pushFirst(large);
    for (let i = 0; i < 20; i++) queue.push(job('a', 10));
    expect(served(queue, 20, ({ costMs }) => costMs < 100)).toHaveLength(20);
    expect(queue.next(({ costMs }) => costMs < 100)).toBeUndefined();
    expect(queue.next(anyJob)).toBe(large);
  });

  test('gives every job exactly once, however it is removed', () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('push' as const),
        owner: fc.constantFrom('a', 'b', 'c'),
        costMs: fc.integer({ min: 1, max: 50 }),
      }),
      fc.record({
        kind: fc.constantFrom('next' as const, 'newest' as const, 'remove' as const),
        owner: fc.constantFrom('a', 'b', 'c'),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const queue = new FairQueue<Job>();
        const waiting = new Set<Job>();
        const taken = (each: Job | undefined): void => {
          if (each) expect(waiting.delete(each)).toBe(true);
        };
        for (const each of steps) {
          if (each.kind === 'push') {
            const pushed = job(each.owner, each.costMs);
            waiting.add(pushed);
            queue.push(pushed);
          } else if (each.kind === 'next') taken(queue.next(anyJob));
          else if (each.kind === 'newest') taken(queue.removeNewest(each.owner));
          else taken(queue.remove(({ owner }) => owner === each.owner));
        }
        for (const each of queue.drain()) taken(each);
        expect(waiting.size).toBe(0);
      }),
    );
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBuckets } from './rate-limits.js';

it("never admits more per second than the limit, and a full second's allowance after a pause", () => {
  const calls = fc.array(
    fc.record({ afterMs: fc.integer({ min: 0, max: 300 }), cost: fc.integer({ min: 1, max: 5 }) }),
    {
      maxLength: 200,
    },
  );
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 50 }), calls, (perSecond, asked) => {
      const buckets = createBuckets(10);
      const admitted: { atMs: number; cost: number }[] = [];
      let atMs = 1_000_000;
      for (const { afterMs, cost } of asked) {
        atMs += afterMs;
        const { admitted: isAdmitted, retryAfterMs } = buckets.ask('one', perSecond, atMs, cost);
        expect(isAdmitted).toBe(retryAfterMs === 0);
        if (!isAdmitted) {
          // The reported time to retry is right.
          expect(buckets.ask('one', perSecond, atMs + Math.ceil(retryAfterMs), cost).admitted).toBe(true);
          continue;
        }
        buckets.take('one', perSecond, atMs, cost);
        admitted.push({ atMs, cost });
      }
      for (const [index, { atMs: fromMs }] of admitted.entries()) {
        let sum = 0;
        for (const { atMs: thenMs, cost } of admitted.slice(index)) {
          sum += cost;
          // A full bucket, and the refill since.
          expect(sum).toBeLessThanOrEqual(perSecond * (1 + (thenMs - fromMs) / 1_000) + 1e-6);
        }
      }
    }),
  );
});

it("admits a cost above one second's allowance only from a full bucket, and charges it afterwards", () => {
  const buckets = createBuckets(10);
  expect(buckets.ask('one', 10, 0, 100)).toMatchObject({ admitted: true, remaining: 0 });
  buckets.take('one', 10, 0, 100);
  expect(buckets.ask('one', 10, 0)).toMatchObject({ admitted: false, retryAfterMs: 9_100 });
  expect(buckets.ask('one', 10, 9_100).admitted).toBe(true);
  expect(buckets.ask('one', 10, 9_100, 100).admitted).toBe(false);
  expect(buckets.ask('one', 10, 10_000, 100).admitted).toBe(true);
});

it('keeps a bounded number of subjects, the most recently used', () => {
  const buckets = createBuckets(100);
  for (let subject = 0; subject < 10_000; subject++) {
    buckets.take('steady', 1, 0);
    buckets.take(`other-${subject}`, 1, 0);
  }
  expect(buckets.ask('steady', 1, 0).admitted).toBe(false);
  expect(buckets.ask('other-9999', 1, 0).admitted).toBe(false);
  expect(buckets.ask('other-0', 1, 0).admitted).toBe(true);
});

it('admits the whole allowance of a second at once at any real time, and counts down what remains', () => {
  const someDayIn2029Ms = 1_870_000_000_123;
  for (const perSecond of [1, 3, 7, 10, 30, 70, 300, 700, 3_000]) {
    const buckets = createBuckets(10);
    for (let call = 1; call <= perSecond; call++) {
      const expected = { admitted: true, remaining: perSecond - call };
      expect(buckets.ask('one', perSecond, someDayIn2029Ms), `${call} of ${perSecond}`).toMatchObject(expected);
      buckets.take('one', perSecond, someDayIn2029Ms);
    }
    expect(buckets.ask('one', perSecond, someDayIn2029Ms).admitted).toBe(false);
  }
});

it('a clock that was set back by an hour locked keys and devices out for this hour', () => {
  const buckets = createBuckets(10);
  const hourMs = 3_600_000;
  buckets.take('one', 10, 2 * hourMs);
  expect(buckets.ask('one', 10, hourMs).admitted).toBe(true);
  for (let call = 1; call <= 10; call++) buckets.take('full', 10, 2 * hourMs);
  expect(buckets.ask('full', 10, hourMs)).toMatchObject({ admitted: false, retryAfterMs: 100 });
  expect(buckets.ask('full', 10, hourMs + 100).admitted).toBe(true);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LogRecord } from '../ports.js';
import { Breaker } from './breaker.js';

const record = (offset: number): LogRecord => ({ key: 'key', value: null, partition: 0, offset, timestamp: 0 });

/** Returns the index of the first record at which the breaker must open, by counting the whole window each time. */
function oracle(dead: readonly boolean[], maxShare: number): number {
  return dead.findIndex((isDead, index) => {
    const window = dead.slice(Math.max(0, index - 999), index + 1);
    const count = window.filter(Boolean).length;
    return isDead && count >= 100 && count > window.length * maxShare;
  });
}

test('opens exactly when more than the share of the last 1,000, and at least 100, were dead letters', () => {
  const stretch = fc.tuple(fc.integer({ min: 1, max: 400 }), fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(
      fc.array(stretch, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 500 }),
      fc.constantFrom(0.1, 0.5, 0.5, 0.9, 1),
      (stretches, batchRecords, maxShare) => {
        const dead = stretches.flatMap(([length, share]) =>
          Array.from({ length }, (_, index) => Math.floor((index + 1) * share) > Math.floor(index * share)),
        );
        const breaker = new Breaker(maxShare);
        const breaksAt = oracle(dead, maxShare);
        for (let start = 0; start < dead.length; start += batchRecords) {
          const records = dead.slice(start, start + batchRecords).map((_, index) => record(start + index));
          const bad = records
            .filter(({ offset }) => dead[offset])
            .map((one) => ({ record: one, reason: 'undecodable' as const, message: 'bad' }));
          const tooMany = breaker.pass(records, bad);
          expect(tooMany?.offset).toBe(breaksAt >= start && breaksAt < start + batchRecords ? breaksAt : undefined);
          if (tooMany === undefined) continue;
          const window = dead.slice(Math.max(0, breaksAt - 999), breaksAt + 1);
          expect(tooMany).toEqual({
            dead: window.filter(Boolean).length,
            seen: window.length,
            offset: breaksAt,
            reason: 'undecodable',
            message: 'bad',
          });
          return;
        }
        expect(breaksAt).toBe(-1);
      },
    ),
    { numRuns: 60 },
  );
});

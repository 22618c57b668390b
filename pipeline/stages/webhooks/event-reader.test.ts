import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDuplicateFilter } from './event-reader.js';

test('an event is a duplicate when a remembered event has its id at a lower offset', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 20 }),
      (ids, limit) => {
        const isDuplicate = createDuplicateFilter(limit);
        /** Events that were not duplicates, latest last. */
        const remembered: number[] = [];
        for (const [offset, id] of ids.entries()) {
          const expected = remembered.slice(-limit).includes(id);
          expect(isDuplicate(String(id), offset)).toBe(expected);
          if (!expected) remembered.push(id);
        }
      },
    ),
  );
});

test('a record that is read again is not a duplicate', () => {
  const isDuplicate = createDuplicateFilter();
  expect([5, 5, 6, 5, 4].map((offset) => isDuplicate('a', offset))).toEqual([false, false, true, false, false]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RowSet } from './row-set.js';

test('has exactly the rows that were added since it was cleared', () => {
  const rows = fc.array(fc.oneof(fc.integer({ min: 0, max: 70 }), fc.integer({ min: 0, max: 2_000_000 })));
  const set = new RowSet();
  fc.assert(
    fc.property(rows, rows, (added, others) => {
      set.clear();
      for (const row of added) set.add(row);
      for (const row of [...added, ...others]) expect(set.has(row)).toBe(added.includes(row));
    }),
  );
});

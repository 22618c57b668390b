import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deriveId, freshId } from '../schemas/ids.js';
import { SeenIds } from './seen-ids.js';

it('names the line that had an id first, however many there are', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 20_000 }), (count, range) => {
      const seen = new SeenIds();
      const lines = new Map<number, number>();
      for (let line = 1; line <= count; line++) {
        const value = (line * 7_919) % range;
        const earlier = lines.get(value);
        if (seen.add(deriveId(`${value}`), line) !== earlier) expect.fail(`line ${line} of ${count}`);
        if (earlier === undefined) lines.set(value, line);
      }
    }),
    { numRuns: 5 },
  );
});

/** Beacons without a pair were rejected as repeated: the first 64 bits of their ids are a second and a process. */
it('tells apart the ids that one process made in one second', () => {
  const seen = new SeenIds();
  const ids = Array.from({ length: 10_000 }, () => freshId(1_700_000_000_000));
  for (const [index, id] of ids.entries()) expect(seen.add(id, index + 1)).toBeUndefined();
  for (const [index, id] of ids.entries()) expect(seen.add(id, 1 + ids.length)).toBe(index + 1);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deriveId } from '../schemas/ids.js';
import { SeenIds } from './repeated-pairs.js';

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

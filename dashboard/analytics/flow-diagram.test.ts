import fc from 'fast-check';
import { expect, it } from 'vitest';
import { layOut } from './flow-diagram.js';

const flow = fc.record({
  from: fc.constantFrom('a', 'b', 'c', 'd'),
  to: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  count: fc.integer({ min: 1, max: 1_000 }),
});
const flows = fc.uniqueArray(flow, { minLength: 1, selector: ({ from, to }) => `${from} ${to}` });

it('draws each flow once, and places that do not overlap within the height', () => {
  fc.assert(
    fc.property(flows, (some) => {
      const { lefts, rights, ribbons, height } = layOut(some);
      expect(ribbons).toHaveLength(some.length);
      for (const side of [lefts, rights]) {
        expect(side.reduce((sum, { total }) => sum + total, 0)).toBe(some.reduce((sum, { count }) => sum + count, 0));
        for (const [index, { y }] of side.entries()) {
          const above = side[index - 1];
          expect(y).toBeGreaterThanOrEqual(above ? above.y + above.height : 0);
        }
        const last = side.at(-1)!;
        expect(last.y + last.height).toBeLessThanOrEqual(height + 0.001);
      }
    }),
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReusedMemory } from './reused-memory.js';

test('memory is used by one picture at a time, is large enough, and is kept up to a limit', () => {
  const steps = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 1_000 }), returned: fc.nat(9) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 3_000 }), (each, maxFreeBytes) => {
      const store = new ReusedMemory(maxFreeBytes, (bytes) => new ArrayBuffer(bytes));
      const used: ArrayBuffer[] = [];
      const returned: ArrayBuffer[] = [];
      for (const { bytes, returned: number } of each) {
        const memory = store.take(bytes);
        expect(memory.byteLength).toBeGreaterThanOrEqual(bytes);
        expect(used).not.toContain(memory);
        const at = returned.indexOf(memory);
        if (at >= 0) {
          // What was given back after it fits into the limit with it.
          expect(returned.slice(at).reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeLessThanOrEqual(
            maxFreeBytes,
          );
          returned.splice(at, 1);
        }
        used.push(memory);
        if (number < used.length) {
          const [done] = used.splice(number, 1);
          returned.push(done!);
          store.giveBack(done!);
        }
      }
    }),
  );
});

test('the memory of a large picture is left alone by small ones and used by the next large one', () => {
  const store = new ReusedMemory(10_000, (bytes) => new ArrayBuffer(bytes));
  const large = store.take(8_000);
  store.giveBack(large);
  const small = store.take(100);
  expect(small).not.toBe(large);
  store.giveBack(small);
  expect(store.take(7_000)).toBe(large);
  expect(store.take(90)).toBe(small);
});

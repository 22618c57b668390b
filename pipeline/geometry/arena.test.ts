import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { Arena } from './arena.js';

/** An arena with a plain map of the expected content of each owner's block. */
class Checked {
  readonly expected = new Map<number, number[]>();
  private readonly addresses = new Map<number, number>();
  readonly arena = new Arena((owner, address) => this.addresses.set(owner, address));
  private written = 0;

  add(owner: number, length: number): void {
    const values = Array.from({ length }, () => this.written++);
    const address = this.arena.allocate(owner, length);
    this.arena.doubles(address).set(values, this.arena.offset(address));
    this.addresses.set(owner, address);
    this.expected.set(owner, values);
  }

  remove(owner: number): void {
    this.arena.free(this.addresses.get(owner)!);
    this.expected.delete(owner);
  }

  check(): void {
    for (const [owner, values] of this.expected) {
      const address = this.addresses.get(owner)!;
      const offset = this.arena.offset(address);
      expect([...this.arena.doubles(address).subarray(offset, offset + values.length)]).toEqual(values);
    }
  }
}

test('blocks keep their values while others are allocated, freed and moved', () => {
  const steps = fc.array(fc.tuple(fc.nat({ max: 60 }), fc.constantFrom(6, 64, 400, 4_000)), {
    maxLength: 400,
    size: 'max',
  });
  fc.assert(
    fc.property(steps, (chosen) => {
      const blocks = new Checked();
      for (const [owner, length] of chosen) {
        if (blocks.expected.has(owner)) blocks.remove(owner);
        else blocks.add(owner, length);
      }
      blocks.check();
    }),
    { numRuns: propertyRuns(50) },
  );
});

test('repeated replacement, also with growing blocks, needs little more memory than live blocks', () => {
  const blocks = new Checked();
  const owners = 3_000;
  for (let round = 0; round < 12; round++) {
    for (let i = 0; i < owners; i++) {
      const owner = (i * 7_919) % owners;
      if (blocks.expected.has(owner)) blocks.remove(owner);
      blocks.add(owner, 64 + 8 * round);
    }
  }
  blocks.check();
  const aliveBytes = 8 * owners * (64 + 8 * 11 + 1);
  expect(blocks.arena.bytes()).toBeLessThan(1.5 * aliveBytes + 3 * 2 ** 20);
});

test('rejects a block larger than a chunk', () => {
  expect(() => new Arena(() => {}).allocate(0, 2 ** 17)).toThrow(RangeError);
});

import { expect, it } from 'vitest';
import { Slab } from './slab.js';

const zeros = (bytes: number, target: Buffer, position: number): number =>
  position + bytes > target.length ? -1 : target.fill(0, position, position + bytes) && position + bytes;

// Regression: each track call took 256 KiB, so that the whole heap was collected ten times a second.
it('takes little more memory than the values', () => {
  for (const [count, bytes] of [
    [1, 100],
    [1, 5_000],
    [30, 200],
    [5_000, 150],
  ] as const) {
    const slab = new Slab();
    const buffers = new Set(Array.from({ length: count }, () => slab.encode(zeros, bytes).buffer));
    const taken = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(taken).toBeLessThanOrEqual(Math.max(2_048, 6 * count * bytes));
  }
});

it('writes many values into few buffers, each in its place', () => {
  const slab = new Slab();
  const number = (value: number, target: Buffer, position: number): number =>
    position + 4 > target.length ? -1 : target.writeInt32LE(value, position);
  const encoded = Array.from({ length: 100_000 }, (_, value) => slab.encode(number, value));
  expect(encoded.map((slice) => slice.readInt32LE())).toEqual(Array.from({ length: 100_000 }, (_, value) => value));
  expect(new Set(encoded.map(({ buffer }) => buffer)).size).toBeLessThan(8);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinLines } from './join-lines.js';

const lengthOf = (xy: readonly number[]) => {
  let length = 0;
  for (let i = 2; i < xy.length; i += 2) length += Math.hypot(xy[i]! - xy[i - 2]!, xy[i + 1]! - xy[i - 1]!);
  return length;
};
const reversed = (xy: readonly number[]) => xy.map((_, i) => xy[xy.length - 2 - i + 2 * (i % 2)]!);

/** A line that goes right at every step, so it never crosses itself. */
const street = fc
  .array(fc.record({ dx: fc.integer({ min: 5, max: 40 }), dy: fc.integer({ min: -5, max: 5 }) }), {
    minLength: 2,
    maxLength: 20,
  })
  .map((steps) => {
    const xy = [0, 0];
    for (const { dx, dy } of steps) xy.push(xy.at(-2)! + dx, xy.at(-1)! + dy);
    return xy;
  });

test('the pieces of a street are joined, whatever their directions and order', () => {
  const cutting = fc.record({
    street,
    cuts: fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
    turns: fc.array(fc.boolean(), { minLength: 21, maxLength: 21 }),
    order: fc.array(fc.integer(), { minLength: 21, maxLength: 21 }),
  });
  fc.assert(
    fc.property(cutting, ({ street: xy, cuts, turns, order }) => {
      const pieces: number[][] = [[xy[0]!, xy[1]!]];
      for (let i = 2; i < xy.length; i += 2) {
        pieces.at(-1)!.push(xy[i]!, xy[i + 1]!);
        if (cuts[i / 2] && i + 2 < xy.length) pieces.push([xy[i]!, xy[i + 1]!]);
      }
      const given = pieces
        .map((piece, i) => ({ piece: turns[i] ? reversed(piece) : piece, order: order[i]! }))
        .sort((a, b) => a.order - b.order)
        .map(({ piece }) => piece);
      const [joined, ...others] = joinLines(given, 1);
      expect(others).toEqual([]);
      expect([xy, reversed(xy)]).toContainEqual(joined);
    }),
  );
});

test('each piece is part of exactly one line', () => {
  const point = fc
    .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 4 }))
    .map(([x, y]) => [10 * x, 10 * y]);
  const piece = fc.uniqueArray(point, { minLength: 2, maxLength: 4, selector: String }).map((points) => points.flat());
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (pieces) => {
      const total = pieces.reduce((sum, xy) => sum + lengthOf(xy), 0);
      expect(joinLines(pieces, 1).reduce((sum, xy) => sum + lengthOf(xy), 0)).toBeCloseTo(total, 6);
    }),
  );
});

test('at a side street of the same name, the straight pieces are joined', () => {
  const [west, east, south] = [
    [0, 0, 50, 0],
    [50, 0, 100, 2],
    [50, 0, 60, 50],
  ];
  expect(joinLines([south, west, east], 1)).toEqual([
    [50, 0, 60, 50],
    [0, 0, 50, 0, 100, 2],
  ]);
});

test('ends within the tolerance are joined, others are not', () => {
  const [west, east] = [
    [0, 0, 50, 0],
    [51, 0, 100, 0],
  ];
  expect(joinLines([west, east], 2)).toHaveLength(1);
  expect(joinLines([west, east], 0.5)).toHaveLength(2);
});

test('a sharp turn separates two streets', () => {
  expect(
    joinLines(
      [
        [0, 0, 50, 0],
        [50, 0, 0, 10],
      ],
      1,
    ),
  ).toHaveLength(2);
});

test('a ring becomes a line with two ends', () => {
  const quarters = [
    [0, 0, 10, 0, 10, 10],
    [10, 10, 0, 10, 0, 0],
  ];
  expect(
    joinLines(quarters, 1)
      .map(lengthOf)
      .reduce((a, b) => a + b),
  ).toBe(40);
});

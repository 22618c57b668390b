import fc from 'fast-check';
import { expect, test } from 'vitest';
import { squareAround } from './squares.js';

type Vertex = readonly [x: number, y: number];

/** Returns a line with its vertices turned about the origin. */
const turned = (angle: number, ...vertices: readonly Vertex[]): number[] =>
  vertices.flatMap(([x, y]) => [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)]);

const angles = fc.double({ min: 0, max: 2 * Math.PI, noNaN: true });
const lengths = fc.integer({ min: 20, max: 100 });

test('lines around a square, or three sides of it, name a square in any direction', () => {
  fc.assert(
    fc.property(angles, lengths, fc.double({ min: 0.6, max: 1, noNaN: true }), (angle, length, share) => {
      const [right, down] = [length, share * length];
      const ring: Vertex[] = [
        [0, 0],
        [right, 0],
        [right, down],
        [0, down],
        [0, 0],
      ];
      const middle = turned(angle, [right / 2, down / 2]);
      const sides = ring.slice(1).map((end, i) => turned(angle, ring[i]!, end));
      for (const lines of [[turned(angle, ...ring)], sides, sides.slice(1)]) {
        const square = squareAround(lines);
        expect(square?.x).toBeCloseTo(middle[0]!);
        expect(square?.y).toBeCloseTo(middle[1]!);
      }
    }),
  );
});

test('straight streets, bends and dual carriageways are streets in any direction', () => {
  fc.assert(
    fc.property(angles, lengths, lengths, fc.integer({ min: 2, max: 5 }), (angle, a, b, gap) => {
      const at = (...vertices: readonly Vertex[]) => turned(angle, ...vertices);
      expect(squareAround([at([0, 0], [a, 0])])).toBeNull();
      expect(squareAround([at([0, 0], [a, 0], [a, b])])).toBeNull();
      expect(squareAround([at([0, 0], [a, 0]), at([0, gap], [a, gap])])).toBeNull();
      expect(squareAround([at([0, 0], [a, 0], [a, b], [2 * a, b])])).toBeNull();
    }),
  );
});

test('a street that winds up a hill is a street in any direction', () => {
  fc.assert(
    fc.property(angles, lengths, (angle, length) => {
      const bends = [
        [0, 0],
        [length, 0.1 * length],
        [length, 0.2 * length],
        [0.3 * length, 0.3 * length],
        [0.3 * length, 0.8 * length],
      ] as const;
      expect(squareAround([turned(angle, ...bends)])).toBeNull();
    }),
  );
});

test('a street whose hairpin bends lie on all sides of its middle is a street in any direction', () => {
  fc.assert(
    fc.property(angles, lengths, (angle, length) => {
      const ups = [0, 0, 0.3, 0.35, 0.65, 0.7, 1, 1];
      const bends = [0, 1, 1, 0.1, 0.1, 1, 1, 0].map((x, i): Vertex => [x * length, ups[i]! * length]);
      expect(squareAround([turned(angle, ...bends)])).toBeNull();
    }),
  );
});

const allDirections = Array.from({ length: 360 }, (_, degrees) => (degrees * Math.PI) / 180);

test('three sides of a flat square were a street in every third direction', () => {
  const sides = [
    [
      [100, 0],
      [100, 60],
    ],
    [
      [100, 60],
      [0, 60],
    ],
    [
      [0, 60],
      [0, 0],
    ],
  ] as const;
  for (const angle of allDirections) {
    expect(squareAround(sides.map((side) => turned(angle, ...side))), `${angle}`).not.toBeNull();
  }
});

test('a winding street was a square in two of three directions', () => {
  const bends = [
    [0, 0],
    [100, 10],
    [100, 20],
    [30, 30],
    [30, 80],
  ] as const;
  for (const angle of allDirections) expect(squareAround([turned(angle, ...bends)]), `${angle}`).toBeNull();
});

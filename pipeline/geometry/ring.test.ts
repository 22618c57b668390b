import fc from 'fast-check';
import { Geodesic } from 'geographiclib-geodesic';
import { expect, test } from 'vitest';
import type { Position } from '../../schemas/json/common.js';
import { boundsOf } from './edges.js';
import { type NormalRing, normalizeRing, unwrapRing } from './ring.js';
import { between, place, unitStar } from './testing/arbitraries.js';

const square: Position[] = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
  [0, 0],
];

/** Fiji from 177 east to 178 west. */
const fiji: Position[] = [
  [177, -19],
  [-178, -19],
  [-178, -16],
  [177, -16],
  [177, -19],
];

function accept(coordinates: unknown): NormalRing {
  const result = normalizeRing(coordinates);
  if (!result.ok) throw new Error(result.problem.rule);
  return result.value;
}

const ruleBroken = (coordinates: unknown): string => {
  const result = normalizeRing(coordinates);
  return result.ok ? 'accepted' : `${result.problem.param}: ${result.problem.rule}`;
};

/** A closed ring of `count` positions on a circle. */
const round = (count: number): Position[] =>
  Array.from({ length: count }, (_, i): Position => {
    const angle = (2 * Math.PI * (i % (count - 1))) / (count - 1);
    return [10 + Math.cos(angle), 50 + Math.sin(angle)];
  });

test('a square', () => {
  const { ring, unwrapped, centroid, radiusM } = accept(square);
  expect(ring).toEqual(square);
  expect([...unwrapped]).toEqual([0, 0, 1, 0, 1, 1, 0, 1]);
  expect(boundsOf(unwrapped)).toEqual([0, 0, 1, 1]);
  expect(centroid).toEqual([0.5, 0.5]);
  expect(radiusM).toBeCloseTo(Geodesic.WGS84.Inverse(0.5, 0.5, 0, 0).s12!, -1);
});

test('either winding, one ring in a list, repeated vertices', () => {
  expect(accept([...square].reverse()).centroid).toEqual([0.5, 0.5]);
  expect(accept([square]).ring).toEqual(square);
  const repeated = [square[0], square[0], square[1], square[2], square[2], square[3], square[4], square[4]];
  expect(accept(repeated).ring).toEqual(repeated);
  expect([...accept(repeated).unwrapped]).toEqual([0, 0, 1, 0, 1, 1, 0, 1]);
});

// Exports of KML have an altitude in each position. The message blamed the longitude or latitude.
test('regression: altitudes of GeoJSON are ignored', () => {
  const raised = square.map(([longitude, latitude], index) => [longitude, latitude, 100 * index]);
  expect(accept([raised])).toEqual(accept(square));
});

test('across the antimeridian, from either side', () => {
  expect(boundsOf(accept(fiji).unwrapped)).toEqual([177, -19, 182, -16]);
  expect(accept(fiji).centroid).toEqual([179.5, -17.5]);
  const fromEast = [...fiji.slice(1), fiji[1]];
  expect(boundsOf(accept(fromEast).unwrapped)).toEqual([-183, -19, -178, -16]);
  expect(accept(fromEast).centroid).toEqual([179.5, -17.5]);
  expect(accept(fiji).radiusM).toBeCloseTo(Geodesic.WGS84.Inverse(-17.5, 179.5, -16, 177).s12!, -3);
});

test('vertices at 180 and -180 are the same place', () => {
  const ring = [
    [180, 0],
    [-180, 0],
    [-179, 0],
    [-179, 1],
    [180, 1],
    [180, 0],
  ];
  expect([...accept(ring).unwrapped]).toEqual([180, 0, 181, 0, 181, 1, 180, 1]);
});

test('4 and 2,000 positions are accepted, 3 and 2,001 refused', () => {
  expect(normalizeRing(round(4)).ok).toBe(true);
  expect(normalizeRing(round(2_000)).ok).toBe(true);
  expect(ruleBroken(round(3))).toBe(
    'coordinates: must have 4 to 2000 positions, the last equal to the first; it has 3',
  );
  expect(ruleBroken(round(2_001))).toContain('it has 2001');
});

test.each([
  ['nothing', undefined, 'must be a ring'],
  ['text', '[[0,0]]', 'must be a ring'],
  ['a point', [1, 2], 'must have 4 to 2000'],
  ['an open ring', square.slice(0, 4), 'must be closed'],
  ['a hole', [square, square], 'holes and several rings are not supported'],
  ['several polygons', [[square]], 'holes and several rings are not supported'],
  [
    'a longitude beyond 180',
    [
      [0, 0],
      [180.1, 0],
      [1, 1],
      [0, 0],
    ],
    'position 1 does not',
  ],
  [
    'a latitude beyond 90',
    [
      [0, 0],
      [1, -90.1],
      [1, 1],
      [0, 0],
    ],
    'position 1 does not',
  ],
  [
    'NaN',
    [
      [0, 0],
      [1, 0],
      [Number.NaN, 1],
      [0, 0],
    ],
    'position 2 is not',
  ],
  [
    'text for a number',
    [
      [0, 0],
      [1, 0],
      ['1', 1],
      [0, 0],
    ],
    'position 2 is not',
  ],
  [
    'an altitude that is no number',
    [
      [0, 0],
      [1, 0],
      [1, 1, null],
      [0, 0],
    ],
    'position 2 is not',
  ],
  [
    'a measure after the altitude',
    [
      [0, 0],
      [1, 0],
      [1, 1, 5, 7],
      [0, 0],
    ],
    'position 2 is not',
  ],
  ['null', [[0, 0], [1, 0], null, [0, 0]], 'position 2 is not'],
  [
    'one place',
    [
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
    ],
    'must enclose an area',
  ],
  [
    'one line',
    [
      [0, 0],
      [1, 1],
      [3, 3],
      [2, 2],
      [0, 0],
    ],
    'must enclose an area',
  ],
  [
    'there and back',
    [
      [0, 0],
      [1, 0],
      [0, 0],
      [0, 0],
    ],
    'must enclose an area',
  ],
  [
    'a bow tie',
    [
      [0, 0],
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 0],
    ],
    'edge 0 ([0,0] to [1,1]) meets edge 2 ([1,0] to [0,1])',
  ],
  [
    'a spike',
    [
      [0, 0],
      [4, 0],
      [4, 4],
      [4, 6],
      [4, 4],
      [0, 4],
      [0, 0],
    ],
    'must not cross or touch itself',
  ],
  [
    'a touch',
    [
      [0, 0],
      [4, 0],
      [4, 4],
      [2, 0],
      [0, 4],
      [0, 0],
    ],
    'must not cross or touch itself',
  ],
  [
    'the pole',
    [
      [0, 80],
      [120, 80],
      [-120, 80],
      [0, 80],
    ],
    'must not enclose a pole',
  ],
  [
    'a spiral',
    [
      [0, 0],
      [150, 0],
      [-60, 0],
      [90, 0],
      [90, 10],
      [-60, 5],
      [150, 5],
      [0, 5],
      [0, 0],
    ],
    'more than 360',
  ],
])('refuses %s', (_, coordinates, rule) => {
  expect(ruleBroken(coordinates)).toContain(rule);
});

test('names edges by uploaded positions, after repeated ones too', () => {
  const bowTie = [
    [0, 0],
    [0, 0],
    [0, 0],
    [1, 1],
    [1, 0],
    [1, 0],
    [0, 1],
    [0, 0],
  ];
  expect(ruleBroken(bowTie)).toContain('edge 2 ([0,0] to [1,1]) meets edge 5 ([1,0] to [0,1])');
});

test('accepts a star anywhere; unwrapping restores the outline', () => {
  fc.assert(
    fc.property(unitStar(4, 200), between(-180, 180), between(-80, 80), (star, x, y) => {
      const points = place(star, x, y, 5, 5);
      const ring = Array.from({ length: points.length / 2 }, (_, i): Position => {
        const longitude = points[2 * i]!;
        return [longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude, points[2 * i + 1]!];
      });
      ring.push(ring[0]!);
      const normal = accept(ring);
      expect([...unwrapRing(ring)]).toEqual([...normal.unwrapped]);
      const shift = Math.round((normal.unwrapped[0]! - points[0]!) / 360) * 360;
      for (const [i, value] of points.entries()) {
        expect(normal.unwrapped[i]).toBeCloseTo(i % 2 === 0 ? value + shift : value, 9);
      }
      expect(Math.abs(normal.centroid[0])).toBeLessThanOrEqual(180);
    }),
  );
});

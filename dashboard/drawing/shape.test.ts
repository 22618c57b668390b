import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { draftOf, newGeofence } from '../forms/geofence.js';
import {
  allowedRadiusM,
  crossingsOf,
  distanceM,
  fieldsOf,
  handleOf,
  isWithinMap,
  niceRadiusM,
  type Position,
  pointsOf,
  roundedPosition,
  type Shape,
  shapeOfGeofence,
} from './shape.js';

const position = fc
  .tuple(fc.double({ min: -180, max: 179.9, noNaN: true }), fc.double({ min: -85, max: 85, noNaN: true }))
  .map(roundedPosition);
const shapes: fc.Arbitrary<Shape> = fc.oneof(
  fc.record({ type: fc.constant('circle' as const), centre: position, radiusM: fc.integer({ min: 10, max: 10_000 }) }),
  fc.record({
    type: fc.constant('polygon' as const),
    points: fc.uniqueArray(position, { minLength: 1, maxLength: 12, selector: String }),
  }),
);

describe('a shape', () => {
  test('is the same after it was written into the form and read again', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        expect(shapeOfGeofence({ ...newGeofence, type: shape.type as 'circle', ...fieldsOf(shape) })).toEqual(shape);
      }),
    );
  });

  test('has no form while the text says none', () => {
    expect(shapeOfGeofence(newGeofence)).toBeUndefined();
    expect(shapeOfGeofence({ ...newGeofence, latitude: '91', longitude: '0' })).toBeUndefined();
    expect(shapeOfGeofence({ ...newGeofence, latitude: '1', longitude: '2', radius: '' })?.type).toBe('point');
    expect(shapeOfGeofence({ ...newGeofence, type: 'polygon', points: '1, 2\nthree' })).toBeUndefined();
    expect(pointsOf('1, 2\n3, 4\n5, 6\n1, 2')).toEqual([
      [2, 1],
      [4, 3],
      [6, 5],
    ]);
  });

  // A polygon was pasted as GeoJSON. On the way there the text was a list of numbers, which ended the page.
  // The map ends at 85 degrees, and what lay beyond was taken for a place that is not chosen yet.
  test('is there beyond the edge of the map, and is edited in the form', () => {
    const circle = shapeOfGeofence({ ...newGeofence, latitude: '86', longitude: '10' })!;
    expect(circle).toEqual({ type: 'circle', centre: [10, 86], radiusM: 100 });
    expect(isWithinMap(circle)).toBe(false);
    const polygon = shapeOfGeofence({ ...newGeofence, type: 'polygon', points: '84, 2\n86, 4\n84, 6' })!;
    expect(polygon).toMatchObject({ type: 'polygon', points: { length: 3 } });
    expect(isWithinMap(polygon)).toBe(false);
    expect(
      isWithinMap({
        type: 'polygon',
        points: [
          [179, 0],
          [-179, 0],
          [-179, 1],
        ],
      }),
    ).toBe(false);
    expect(
      isWithinMap({
        type: 'polygon',
        points: [
          [178, 0],
          [179, 0],
          [179, 1],
        ],
      }),
    ).toBe(true);
  });

  test('has no form while its JSON is no list of positions', () => {
    for (const points of ['[1, 2]', '[1, 2, 3, 4]', '[[1, 2], null]', '[[1]]', '[["1", "2"]]', '[{}]'])
      expect([points, shapeOfGeofence({ ...newGeofence, type: 'polygon', points })]).toEqual([points, undefined]);
  });

  test('of a stored polygon keeps every point to its last digit', () => {
    const ring = [
      [11.25123456789, 43.7],
      [11.26, 43.7000000001],
      [11.26, 43.71],
      [11.25123456789, 43.7],
    ];
    const stored = { type: 'polygon', geometry: { coordinates: [ring] }, geometryCenter: { coordinates: [11, 43] } };
    const draft = draftOf(stored as unknown as Parameters<typeof draftOf>[0]);
    expect(shapeOfGeofence(draft)).toEqual({ type: 'polygon', points: ring.slice(0, -1) });
  });
});

test('the handle of a circle lies at its radius', () => {
  fc.assert(
    fc.property(position, fc.integer({ min: 10, max: 10_000 }), (centre, radiusM) => {
      expect(distanceM(centre, handleOf(centre, radiusM)) / radiusM).toBeCloseTo(1, 2);
    }),
  );
});

test('radii are round, and within what a circle may have', () => {
  expect([3, 14, 49, 51, 260, 99_999].map(niceRadiusM)).toEqual([10, 10, 20, 50, 200, 10_000]);
  expect([1, 12.4, 20_000].map(allowedRadiusM)).toEqual([10, 12, 10_000]);
});

describe('crossings', () => {
  /** Of whole numbers, whose sums are exact. */
  const whole = fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -20, max: 20 }));
  const bow: Position[] = [
    [0, 0],
    [2, 2],
    [2, 0],
    [0, 2],
  ];

  test('are where edges meet that are not neighbours', () => {
    expect(crossingsOf(bow)).toEqual([[1, 1]]);
    expect(crossingsOf([bow[0]!, bow[2]!, bow[1]!, bow[3]!])).toEqual([]);
  });

  test('do not depend on the point that is the first', () => {
    fc.assert(
      fc.property(fc.uniqueArray(whole, { minLength: 4, maxLength: 9, selector: String }), (points) => {
        const turned = [...points.slice(1), points[0]!];
        expect(crossingsOf(turned).length).toBe(crossingsOf(points).length);
      }),
    );
  });

  test('of points around a centre are none', () => {
    const angles = fc.uniqueArray(fc.integer({ min: 0, max: 359 }), { minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(angles, (all) => {
        const sorted = all.toSorted((one, other) => one - other);
        const points = sorted.map(
          (angle): Position => [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)],
        );
        expect(crossingsOf(points)).toEqual([]);
      }),
    );
  });
});

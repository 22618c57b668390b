/** The features that terra-draw moves, and the shapes that they become. */
import { expect, test } from 'vitest';
import { featureOf, handleIn, isSameInForm, mutable, shapeAfter } from './draft-feature';
import { distanceM, type Position, type Shape } from './shape';

const circle = { type: 'circle', centre: [10, 50], radiusM: 200 } as const satisfies Shape;
const polygonOf = (...points: Position[]): Shape => ({ type: 'polygon', points });
const corners: Position[] = [
  [0, 0],
  [1, 0],
  [1, 1],
];

test('a shape that was not moved stays the same', () => {
  const shapes = [circle, polygonOf(...corners), polygonOf(...corners.slice(0, 2)), polygonOf(corners[1]!)];
  for (const shape of [...shapes, { type: 'point', centre: [1, 2] } as const]) {
    const feature = featureOf(shape)!;
    expect(shapeAfter(shape, feature, handleIn(feature))).toEqual(shape);
    expect(isSameInForm(feature, featureOf(shape)!)).toBe(true);
  }
});

test('the handle of a circle changes its radius, and its centre its place', () => {
  const feature = featureOf(circle)!;
  const handle = handleIn(feature)!;
  const end: Position = [10.01, 50];
  const lineTo = (...coordinates: Position[]) => ({
    ...feature,
    geometry: { type: 'LineString' as const, coordinates: mutable(coordinates) },
  });
  const pulled = shapeAfter(circle, lineTo(circle.centre, end), handle);
  expect(pulled).toMatchObject({ centre: circle.centre });
  expect((pulled as typeof circle).radiusM).toBeCloseTo(distanceM(circle.centre, end), 0);
  expect(shapeAfter(circle, lineTo([11, 51], handle), handle)).toEqual({ ...circle, centre: [11, 51] });
});

test('terra-draw gets no shape over the antimeridian', () => {
  expect(featureOf(polygonOf([179, 0], [-179, 0], [-179, 1]))).toBeUndefined();
});

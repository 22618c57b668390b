import fc from 'fast-check';
import type { Position } from 'geojson';
import { expect, test } from 'vitest';
import { unwrapLine, unwrapPolygon } from './unwrap.js';

const degrees = (max: number) => fc.integer({ min: -max, max });
const steps = fc.array(fc.tuple(degrees(179), degrees(60)), { minLength: 1, maxLength: 30 });

/** Between -180 and 180. */
const onGlobe = (longitude: number) => ((((longitude + 180) % 360) + 360) % 360) - 180;

test('a wrapped line continues beyond the range of longitudes with the same steps', () => {
  fc.assert(
    fc.property(degrees(180), steps, (start, drawn) => {
      const line: Position[] = [[start, 0]];
      for (const [dx, y] of drawn) line.push([line.at(-1)![0]! + dx, y]);
      const cut = line.map(([x, y]) => [onGlobe(x!), y!]);
      const shift = cut[0]![0]! - start;
      expect(unwrapLine(cut)).toEqual(line.map(([x, y]) => [x! + shift, y!]));
    }),
  );
});

test('an island on the antimeridian stays in one piece with its lake', () => {
  const outer = [
    [178, -18],
    [-178, -18],
    [-178, -16],
    [178, -16],
    [178, -18],
  ];
  const lake = [
    [-179.5, -17.5],
    [-179, -17.5],
    [-179, -17],
    [-179.5, -17.5],
  ];
  const [ring, hole] = unwrapPolygon([outer, lake]);
  expect(ring!.map(([x]) => x)).toEqual([178, 182, 182, 178, 178]);
  expect(hole!.map(([x]) => x)).toEqual([180.5, 181, 181, 180.5]);
});

test('a polygon is moved so that its centre is within the range', () => {
  const [ring] = unwrapPolygon([
    [
      [179, 60],
      [-160, 60],
      [-160, 70],
      [179, 60],
    ],
  ]);
  expect(ring!.map(([x]) => x)).toEqual([-181, -160, -160, -181]);
});

test.each([
  ['south', -70, -90],
  ['north', 70, 90],
])('a ring around the %s pole is closed along it', (_, latitude, pole) => {
  const around = [0, 90, 180, -90, 0].map((longitude) => [longitude, latitude]);
  const [ring] = unwrapPolygon([around]);
  const width = Math.max(...ring!.map(([x]) => x!)) - Math.min(...ring!.map(([x]) => x!));
  expect(width).toBe(360);
  expect(ring!.filter(([, y]) => y === pole)).toHaveLength(2);
  expect(ring!.at(-1)).toEqual(ring![0]);
});

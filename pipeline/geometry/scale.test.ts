import fc from 'fast-check';
import { Geodesic } from 'geographiclib-geodesic';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import {
  distance,
  latitudeReach,
  latitudeScale,
  longitudeReach,
  longitudeScale,
  scaleRatio,
  wrapDegrees,
} from './scale.js';
import { between } from './testing/arbitraries.js';

const geodesic = Geodesic.WGS84;

/** A point, and another in a direction (degrees) at a geodesic distance (metres). */
const pairs = (latitudes: fc.Arbitrary<number>, maxM: number) =>
  fc.tuple(between(-180, 180), latitudes, between(-180, 180), between(0, maxM)).map(([lng, lat, azimuth, lengthM]) => {
    const { lat2, lon2 } = geodesic.Direct(lat, lng, azimuth, lengthM);
    return { lng, lat, lng2: lon2!, lat2: lat2!, lengthM };
  });

test.each([
  ['up to latitude 80', between(-80, 80), 0.1],
  ['round the north pole', between(79.1, 90), 0.002],
  ['round the south pole', between(-90, -79.1), 0.002],
])('within 10 km the distance agrees with the geodesic, %s', (_, latitudes, boundM) => {
  fc.assert(
    fc.property(pairs(latitudes, 10_000), ({ lng, lat, lng2, lat2, lengthM }) => {
      expect(Math.abs(distance(lng, lat, lng2, lat2) - lengthM)).toBeLessThan(boundM);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

test('the distance across the antimeridian and the pole is the shorter one', () => {
  expect(distance(179.999, -17, -179.999, -17)).toBeCloseTo(geodesic.Inverse(-17, 179.999, -17, -179.999).s12!, 3);
  expect(distance(180, 66, -180, 66)).toBe(0);
  expect(distance(10, 89.99, -170, 89.99)).toBeCloseTo(geodesic.Inverse(89.99, 10, 89.99, -170).s12!, 3);
  expect(distance(0, 90, 123, 90)).toBeLessThan(1e-6);
});

test('a point at a distance is within the reach of that distance', () => {
  fc.assert(
    fc.property(
      fc.oneof(pairs(between(-90, 90), 10_000), pairs(between(-90, 90), 1_000_000)),
      ({ lng, lat, lng2, lat2 }) => {
        const reachM = distance(lng, lat, lng2, lat2);
        expect(Math.abs(lat2 - lat)).toBeLessThanOrEqual(latitudeReach(reachM) + 1e-12);
        expect(Math.abs(wrapDegrees(lng2 - lng))).toBeLessThanOrEqual(longitudeReach(lat, reachM) + 1e-12);
      },
    ),
    { numRuns: propertyRuns(5_000) },
  );
});

test('scales agree with the geodesic, and their ratio is their quotient', () => {
  fc.assert(
    fc.property(between(-84, 84), (latitude) => {
      const step = 1e-4;
      const north = geodesic.Inverse(latitude - step / 2, 0, latitude + step / 2, 0).s12! / step;
      const east = geodesic.Inverse(latitude, 0, latitude, step).s12! / step;
      expect(latitudeScale(latitude) / north).toBeCloseTo(1, 7);
      expect(longitudeScale(latitude) / east).toBeCloseTo(1, 7);
      expect(scaleRatio(latitude)).toBeCloseTo(longitudeScale(latitude) / latitudeScale(latitude), 12);
    }),
  );
});

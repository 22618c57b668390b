import fc from 'fast-check';
import { expect, test } from 'vitest';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { unitStar } from './testing/arbitraries.js';
import { loadGeos } from './testing/geos.js';
import { findSelfIntersection } from './validity.js';

const geos = await loadGeos();

/** A small grid, so that vertices coincide, touch edges and are collinear. */
const gridRings = fc
  .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 3, max: 9 }))
  .chain(([size, count]) => {
    const coordinate = fc.integer({ min: 0, max: size });
    return fc.array(fc.tuple(coordinate, coordinate), { minLength: count, maxLength: count });
  })
  .map((positions) => positions.filter((at, i) => !same(at, positions[(i + 1) % positions.length]!)))
  .filter((positions) => positions.length >= 3)
  .map((positions) => Float64Array.from(positions.flat()));

const same = (a: readonly number[], b: readonly number[]): boolean => a[0] === b[0] && a[1] === b[1];

test('finds an intersection exactly when GEOS calls a ring on a small grid invalid', () => {
  fc.assert(
    fc.property(gridRings, (points) => {
      expect(findSelfIntersection(points) === undefined).toBe(geos.isValid(points));
    }),
    { numRuns: propertyRuns(10_000) },
  );
});

test('agrees with GEOS on rings of random points', () => {
  const coordinate = fc
    .double({ min: -1, max: 1, noNaN: true })
    .filter((value) => value === 0 || Math.abs(value) > 1e-100);
  fc.assert(
    fc.property(fc.uniqueArray(coordinate, { minLength: 6, maxLength: 16 }), (values) => {
      const points = Float64Array.from(values.slice(0, values.length - (values.length % 2)));
      expect(findSelfIntersection(points) === undefined).toBe(geos.isValid(points));
    }),
    { numRuns: propertyRuns(3_000) },
  );
});

test('the two returned edges meet', () => {
  fc.assert(
    fc.property(gridRings, (points) => {
      const meeting = findSelfIntersection(points);
      if (meeting) expect(meetSlowly(points, ...meeting)).toBe(true);
    }),
    { numRuns: propertyRuns(3_000) },
  );
});

test('finds the crossing of stars with two swapped vertices', () => {
  fc.assert(
    fc.property(unitStar(8, 200), fc.nat(), (points, at) => {
      expect(findSelfIntersection(points)).toBeUndefined();
      const i = 2 * (at % (points.length / 2 - 1));
      const swapped = points.slice();
      swapped.set(points.subarray(i, i + 2), i + 2);
      swapped.set(points.subarray(i + 2, i + 4), i);
      expect(findSelfIntersection(swapped) === undefined).toBe(geos.isValid(swapped));
    }),
    { numRuns: propertyRuns(300) },
  );
});

/** Returns the points, and the number of times that a coordinate was read. */
function counted(points: Float64Array): { readonly points: Float64Array; reads(): number } {
  let reads = 0;
  const get = (target: Float64Array, name: string | symbol): unknown => {
    if (name !== 'length') reads++;
    return target[name as keyof Float64Array];
  };
  return { points: new Proxy(points, { get }), reads: () => reads };
}

test.each([0, 30, 45, 90])('a comb of 1,001 vertices turned by %s degrees is read in n log n steps', (degrees) => {
  const teeth = Array.from({ length: 999 }, (_, i) => [i, i % 2 === 0 ? 0 : 1_000]).flat();
  const comb = Float64Array.from([...teeth, 998, -1, 0, -1]);
  const [cosine, sine] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const turned = comb.map((_, i) =>
    i % 2 === 0 ? cosine * comb[i]! - sine * comb[i + 1]! : sine * comb[i - 1]! + cosine * comb[i]!,
  );
  const { points, reads } = counted(turned);
  expect(findSelfIntersection(points)).toBeUndefined();
  const count = turned.length / 2;
  expect(reads()).toBeLessThan(20 * count * Math.log2(count));
});

/** Tests, for integer coordinates, whether two edges share a point other than a common vertex. */
function meetSlowly(points: Float64Array, a: number, b: number): boolean {
  const count = points.length / 2;
  const at = (vertex: number): [number, number] => [points[2 * (vertex % count)]!, points[2 * (vertex % count) + 1]!];
  const turn = (p: number[], q: number[], r: number[]): number =>
    Math.sign((q[0]! - p[0]!) * (r[1]! - p[1]!) - (q[1]! - p[1]!) * (r[0]! - p[0]!));
  const onEdge = (p: number[], q: number[], r: number[]): boolean =>
    turn(p, q, r) === 0 && (r[0]! - p[0]!) * (r[0]! - q[0]!) + (r[1]! - p[1]!) * (r[1]! - q[1]!) <= 0;
  const [a0, a1, b0, b1] = [at(a), at(a + 1), at(b), at(b + 1)];
  if ((a + 1) % count === b) return onEdge(a0, a1, b1) || onEdge(b0, b1, a0);
  if ((b + 1) % count === a) return onEdge(b0, b1, a1) || onEdge(a0, a1, b0);
  const cross = turn(a0, a1, b0) * turn(a0, a1, b1) < 0 && turn(b0, b1, a0) * turn(b0, b1, a1) < 0;
  return cross || onEdge(a0, a1, b0) || onEdge(a0, a1, b1) || onEdge(b0, b1, a0) || onEdge(b0, b1, a1);
}

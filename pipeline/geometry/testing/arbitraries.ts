/** Random shapes for properties. */
import fc from 'fast-check';

/** Generates finite numbers, none so small that products of differences underflow. */
export const between = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: 2 ** 40 }).map((step) => min + ((max - min) * step) / 2 ** 40);

/** Vertices around the origin by angle, at 0.2 to 1 of the unit radius. The ring never crosses itself. */
export const unitStar = (minVertices: number, maxVertices: number): fc.Arbitrary<Float64Array> =>
  fc.array(between(0.2, 1), { minLength: minVertices, maxLength: maxVertices, size: 'max' }).map((radii) =>
    Float64Array.from(
      radii.flatMap((radius, i) => {
        const angle = (2 * Math.PI * (i + 0.3)) / radii.length;
        return [radius * Math.cos(angle), radius * Math.sin(angle)];
      }),
    ),
  );

/** Returns a ring's points, scaled and moved. */
export const place = (points: Float64Array, x: number, y: number, scaleX: number, scaleY: number): Float64Array =>
  points.map((value, i) => (i % 2 === 0 ? x + scaleX * value : y + scaleY * value));

const bits = new BigInt64Array(1);
const double = new Float64Array(bits.buffer);

/** Returns the double that is `steps` away in order of size. The value must not be 0. */
export function ulpsAway(value: number, steps: number): number {
  double[0] = value;
  bits[0]! += BigInt(steps);
  return double[0]!;
}

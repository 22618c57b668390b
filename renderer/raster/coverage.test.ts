import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inkOf } from './ink.js';
import { Points } from './points.js';
import { black, blended, crop, darkness, largestDifference, whitePicture } from './testing/pictures.js';

type Vertex = readonly [x: number, y: number];

const [width, height] = [48, 32];

function pointsOf(vertices: readonly Vertex[]): Points {
  const points = new Points();
  for (const vertex of vertices) points.add(...vertex);
  return points;
}

function paint(rings: readonly (readonly Vertex[])[], ink = black, picture = whitePicture(width, height)) {
  const [xs, ys] = [rings.flat().map(([x]) => x), rings.flat().map(([, y]) => y)];
  const { coverage } = picture.bitmap;
  if (coverage.begin(picture.area, Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys))) {
    for (const ring of rings) coverage.ring(pointsOf(ring), 1);
    coverage.fill(ink);
  }
  return picture;
}

/** Returns the area of a ring inside a pixel, by cutting the ring at the pixel's four sides. */
function areaInPixel(ring: readonly Vertex[], x: number, y: number): number {
  let cut = ring.map(([vx, vy]): Vertex => [vx - x, vy - y]);
  for (let side = 0; side < 4; side++) {
    // Each turn by a quarter brings the next side of the pixel to the right, where x is at most 1.
    cut = cut.map(([vx, vy]): Vertex => [1 - vy, vx]);
    cut = cut.flatMap((to, i) => {
      const from = cut.at(i - 1)!;
      const t = (1 - from[0]) / (to[0] - from[0]);
      const border: Vertex[] = from[0] <= 1 === to[0] <= 1 ? [] : [[1, from[1] + t * (to[1] - from[1])]];
      return to[0] <= 1 ? [...border, to] : border;
    });
  }
  const doubled = cut.reduce((sum, [vx, vy], i) => sum + cut.at(i - 1)![0] * vy - vx * cut.at(i - 1)![1], 0);
  return Math.abs(doubled) / 2;
}

/** A ring around a centre that does not cross itself, on the grid of subpixels. It may leave the picture. */
const star: fc.Arbitrary<Vertex[]> = fc
  .record({
    x: fc.integer({ min: -10, max: width + 10 }),
    y: fc.integer({ min: -10, max: height + 10 }),
    radii: fc.array(fc.double({ min: 0.2, max: 40, noNaN: true }), { minLength: 3, maxLength: 12 }),
  })
  .map(({ x, y, radii }) =>
    radii.map((radius, i): Vertex => {
      const angle = (2 * Math.PI * i) / radii.length;
      return [x + Math.cos(angle) * radius, y + Math.sin(angle) * radius].map(
        (v) => Math.round(256 * v) / 256,
      ) as never;
    }),
  );

test('each pixel gets the share that a ring covers, in both winding orders', () => {
  fc.assert(
    fc.property(star, fc.boolean(), (ring, isReversed) => {
      const painted = darkness(paint([isReversed ? ring.toReversed() : ring]));
      const off = painted.map((share, i) => Math.abs(share - areaInPixel(ring, i % width, Math.floor(i / width))));
      expect(Math.max(...off)).toBeLessThan(0.012);
    }),
    { numRuns: 60 },
  );
});

test('neighbours with a common border cover their pixels whole', () => {
  const border = fc.array(fc.double({ min: -5, max: width + 5, noNaN: true }), { minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(border, (xs) => {
      const line = xs.map((x, i): Vertex => [x, (height * i) / (xs.length - 1)]);
      const [first, last] = [[line[0]![0], -1] as const, [line.at(-1)![0], height + 1] as const];
      const left = [[-9, height + 1] as const, [-9, -1] as const, first, ...line, last];
      const right = [first, [width + 9, -1] as const, [width + 9, height + 1] as const, last, ...line.toReversed()];
      expect(new Set(paint([left, right]).bitmap.pixels)).toEqual(new Set([0xff000000]));
    }),
  );
});

test('a part of a picture equals the same part of the whole', () => {
  const box = fc
    .record({ minX: fc.nat(width), minY: fc.nat(height), width: fc.nat(width), height: fc.nat(height) })
    .map(({ minX, minY, ...size }) => ({
      minX,
      minY,
      maxX: Math.min(width, minX + size.width),
      maxY: Math.min(height, minY + size.height),
    }));
  fc.assert(
    fc.property(fc.array(star, { minLength: 1, maxLength: 4 }), box, (rings, area) => {
      const whole = crop(paint(rings), area);
      const part = paint(rings, black, whitePicture(width, height, area));
      expect(largestDifference(part.bitmap.pixels, whole)).toBeLessThan(3);
    }),
  );
});

test('where areas overlap, a translucent colour is seen once', () => {
  const ink = inkOf(10, 200, 90, 0.3);
  const square = (from: number, to: number): Vertex[] => [
    [from, from],
    [to, from],
    [to, to],
    [from, to],
  ];
  const { pixels } = paint([square(2, 20), square(10, 30)], ink).bitmap;
  const once = blended(0xffffffff, ink);
  expect([...new Set(pixels)].sort()).toEqual([once, 0xffffffff].sort());
  expect(pixels.filter((pixel) => pixel === once).length).toBe(18 * 18 + 20 * 20 - 10 * 10);
});

test('coordinates may be far beyond the picture', () => {
  const far = 2 ** 27;
  const triangle: Vertex[] = [
    [-far, -far + 10],
    [far, far + 10],
    [-far, far + 10],
  ];
  const painted = darkness(paint([triangle]));
  for (const [i, share] of painted.entries()) {
    const [x, y] = [i % width, Math.floor(i / width)];
    expect(share).toBeCloseTo(y > x + 10 ? 1 : y === x + 10 ? 0.5 : 0, 1);
  }
});

test('a ring of more points than fit into memory at once is covered like its corners', () => {
  const corners: Vertex[] = [
    [3, 2],
    [40, 5],
    [30, 29],
    [6, 20],
  ];
  const perSide = 9_000;
  const ring = corners.flatMap(([x, y], i) => {
    const [nextX, nextY] = corners[(i + 1) % corners.length]!;
    const along = (step: number): Vertex => [x + ((nextX - x) * step) / perSide, y + ((nextY - y) * step) / perSide];
    return Array.from({ length: perSide }, (_, step) => along(step));
  });
  expect(largestDifference(paint([ring]).bitmap.pixels, paint([corners]).bitmap.pixels)).toBeLessThan(3);
});

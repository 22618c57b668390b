import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inkOf } from './ink.js';
import { Stroker, type StrokeStyle } from './stroke.js';
import { black, blended, darkness, whitePicture } from './testing/pictures.js';

const size = 64;

const coordinate = fc.double({ min: -20, max: size + 20, noNaN: true });
const vertices = fc
  .array(fc.tuple(coordinate, coordinate), { minLength: 2, maxLength: 7 })
  .filter(([first, ...others]) => others.some(([x, y]) => Math.hypot(x - first![0], y - first![1]) > 0.01));
const widthPx = fc.double({ min: 1.2, max: 30, noNaN: true });

function stroked(xy: readonly number[], isRing: boolean, style: StrokeStyle, ink = black) {
  const picture = whitePicture(size, size);
  const stroker = new Stroker(style);
  if (stroker.outline(xy, 0, xy.length, isRing, 1, 0, 0)) stroker.paint(picture, isRing, ink);
  return picture;
}

/** Returns the distance of a point from a line or ring. */
function distance(px: number, py: number, xy: readonly number[], isRing: boolean): number {
  let least = Infinity;
  for (let i = isRing ? 0 : 2; i < xy.length; i += 2) {
    const [ax, ay] = [xy.at(i - 2)!, xy.at(i - 1)!];
    const [dx, dy] = [xy[i]! - ax, xy[i + 1]! - ay];
    const along = ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy || 1);
    const t = Math.max(0, Math.min(1, along));
    least = Math.min(least, Math.hypot(px - ax - t * dx, py - ay - t * dy));
  }
  return least;
}

test('a round stroke covers what is nearer to the line than half its width', () => {
  fc.assert(
    fc.property(vertices, widthPx, fc.boolean(), (line, width, isRing) => {
      const xy = line.flat();
      const style = { widthPx: width, cap: 'round', join: 'round', miterLimit: 2 } as const;
      const painted = darkness(stroked(xy, isRing, style));
      const wrong = painted.filter((share, i) => {
        const beyond = distance((i % size) + 0.5, Math.floor(i / size) + 0.5, xy, isRing) - width / 2;
        return (beyond < -0.85 && share !== 1) || (beyond > 0.85 && share !== 0);
      });
      expect(wrong).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('straight lines have the area of their length, with what caps add', () => {
  const near = fc.double({ min: 16, max: 48, noNaN: true });
  const added = {
    butt: () => 0,
    square: (width: number) => width * width,
    round: (width: number) => Math.PI * (width / 2) ** 2,
  };
  fc.assert(
    fc.property(near, near, near, near, fc.double({ min: 1.2, max: 12, noNaN: true }), (ax, ay, bx, by, width) => {
      for (const cap of ['butt', 'square', 'round'] as const) {
        const painted = darkness(
          stroked([ax, ay, bx, by], false, { widthPx: width, cap, join: 'bevel', miterLimit: 1 }),
        );
        const length = Math.hypot(bx - ax, by - ay);
        const expected = length < 1e-3 ? 0 : length * width + added[cap](width);
        const sum = painted.reduce((total, share) => total + share);
        expect(Math.abs(sum - expected)).toBeLessThan(0.3 + 0.03 * expected);
      }
    }),
  );
});

test('a translucent line is seen once where it crosses itself', () => {
  const ink = inkOf(0, 0, 0, 0.5);
  const { pixels } = stroked(
    [5, 5, 55, 55, 55, 5, 5, 55],
    false,
    { widthPx: 9, cap: 'butt', join: 'round', miterLimit: 2 },
    ink,
  ).bitmap;
  const once = blended(0xffffffff, ink) & 255;
  expect(Math.min(...Array.from(pixels, (pixel) => pixel & 255))).toBe(once);
  expect(pixels[30 * size + 30]! & 255).toBe(once);
});

test('a line without length is not drawn', () => {
  const style = { widthPx: 10, cap: 'round', join: 'round', miterLimit: 2 } as const;
  expect(new Set(stroked([9, 9, 9, 9], false, style).bitmap.pixels)).toEqual(new Set([0xffffffff]));
});

test.each([1e4, 1e9, 1e15, 1e300])('a line with a width of %s covers the whole picture', (width) => {
  for (const join of ['round', 'miter', 'bevel'] as const) {
    const style = { widthPx: width, cap: 'round', join, miterLimit: 2 } as const;
    const { pixels } = stroked([10, 20, 40, 30, 20, 50], false, style).bitmap;
    expect(pixels.every((pixel) => (pixel & 255) === 0)).toBe(true);
  }
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PixelBox } from '../types.js';
import { inkOf } from './ink.js';
import { Stroker } from './stroke.js';
import { black, blended, crop, darkness, largestDifference, whitePicture } from './testing/pictures.js';
import { maxThinPx } from './thin-lines.js';

const size = 64;

const inside = fc.double({ min: 4, max: size - 4, noNaN: true });
const anywhere = fc.double({ min: -30, max: size + 30, noNaN: true });
const widthPx = fc.double({ min: 0.3, max: maxThinPx, noNaN: true });

function painted(xy: readonly number[], isRing: boolean, width: number, area?: PixelBox, ink = black) {
  const picture = whitePicture(size, size, area);
  const { thinLines } = picture.bitmap;
  thinLines.begin(picture.area, width, 0);
  thinLines.line(xy, 0, xy.length, isRing, 1, 0, 0);
  thinLines.fill(ink);
  return picture;
}

test('a line looks like its exact outline', () => {
  fc.assert(
    fc.property(inside, inside, inside, inside, widthPx, (ax, ay, bx, by, width) => {
      const line = [ax, ay, bx, by];
      const picture = whitePicture(size, size);
      const stroker = new Stroker({ widthPx: width, cap: 'butt', join: 'bevel', miterLimit: 1 });
      if (stroker.outline(line, 0, 4, false, 1, 0, 0)) stroker.paint(picture, false, black);
      const exact = darkness(picture);
      const thin = darkness(painted(line, false, width));
      const sums = [exact, thin].map((shares) => shares.reduce((sum, share) => sum + share));
      expect(Math.abs(sums[0]! - sums[1]!)).toBeLessThan(0.4 + 0.02 * sums[0]!);
      expect(Math.max(...thin.map((share, i) => Math.abs(share - exact[i]!)))).toBeLessThan(0.4);
    }),
  );
});

test('a line in pieces looks like a whole one', () => {
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });
  fc.assert(
    fc.property(inside, inside, inside, inside, cuts, widthPx, (ax, ay, bx, by, shares, width) => {
      const xy = [0, ...shares.toSorted((a, b) => a - b), 1].flatMap((t) => [ax + t * (bx - ax), ay + t * (by - ay)]);
      const [pieces, whole] = [painted(xy, false, width), painted([ax, ay, bx, by], false, width)].map(darkness);
      const off = pieces!.map((share, i) => {
        const [x, y] = [(i % size) + 0.5, Math.floor(i / size) + 0.5];
        const isAtEnd = Math.min(Math.hypot(x - ax, y - ay), Math.hypot(x - bx, y - by)) < 2;
        return isAtEnd ? 0 : Math.abs(share - whole![i]!);
      });
      expect(Math.max(...off)).toBeLessThan(0.03);
    }),
  );
});

test('a part of a picture equals the same part of the whole', () => {
  const area = fc
    .record({ minX: fc.nat(30), minY: fc.nat(30), width: fc.nat(34), height: fc.nat(34) })
    .map(({ minX, minY, width, height }) => ({ minX, minY, maxX: minX + width, maxY: minY + height }));
  const lines = fc.array(fc.tuple(anywhere, anywhere), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(lines, area, widthPx, fc.boolean(), (vertices, box, width, isRing) => {
      const xy = vertices.flat();
      const whole = crop(painted(xy, isRing, width), box);
      expect(largestDifference(painted(xy, isRing, width, box).bitmap.pixels, whole)).toBeLessThan(3);
    }),
  );
});

test('where lines overlap, a translucent colour is seen once', () => {
  const ink = inkOf(0, 0, 0, 0.5);
  const { pixels } = painted([5, 5, 55, 50, 5, 50, 55, 5], true, 1, undefined, ink).bitmap;
  const once = blended(0xffffffff, ink) & 255;
  expect(Math.min(...Array.from(pixels, (pixel) => pixel & 255))).toBe(once);
});

test.each([true, false])('a line of more vertices than fit into memory at once is drawn whole (ring: %s)', (isRing) => {
  const corners = [8, 8, 56, 12, 40, 55, 9, 40];
  const dense = (perSide: number): number[] =>
    Array.from({ length: isRing ? 4 : 3 }, (_, side) => {
      const [x, y, nextX, nextY] = [0, 1, 2, 3].map((i) => corners[(2 * side + i) % 8]!);
      const along = (step: number): number[] => [
        x! + ((nextX! - x!) * step) / perSide,
        y! + ((nextY! - y!) * step) / perSide,
      ];
      return Array.from({ length: perSide }, (_, step) => along(step)).flat();
    }).flat();
  const [whole, pieces] = [painted(dense(4_000), isRing, 1), painted(dense(10_000), isRing, 1)].map(darkness);
  const off = pieces!.map((share, i) => Math.abs(share - whole![i]!));
  // Where the line is cut, a pixel may be half as covered. The lines have two or three cuts.
  expect(off.filter((difference) => difference > 0.1).length).toBeLessThan(6);
  expect(Math.max(...off)).toBeLessThan(0.6);
});

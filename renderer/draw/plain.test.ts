import { expect, test } from 'vitest';
import { black, whitePicture } from '../raster/testing/pictures.js';
import type { PixelBox } from '../types.js';
import { fillPlain, strokePlain } from './plain.js';
import { type LineList, linePart, ringPart } from './vertices.js';

const sizePx = 2 ** 11;

/** Makes a target of 2^22 pixels, of which shapes may change an area. */
const targetOf = (area: PixelBox) => ({
  picture: whitePicture(sizePx, sizePx, area),
  unitPx: 1,
  left: 0,
  top: 0,
});

/** Returns by how much the memory of typed arrays grows. */
function grownBytes(paint: () => void): number {
  const before = process.memoryUsage().arrayBuffers;
  paint();
  return process.memoryUsage().arrayBuffers - before;
}

test('regression: thin lines in a narrow part of a large map take a byte for 2^20 pixels at most', () => {
  const target = targetOf({ minX: 0, minY: 0, maxX: 100, maxY: sizePx });
  const line: LineList = { xy: [10, 10, 90, sizePx - 10], ends: [4], kinds: [linePart] };
  const style = { widthPx: 1, cap: 'butt', join: 'miter', miterLimit: 2 } as const;
  expect(grownBytes(() => strokePlain(target, [line], style, black))).toBeLessThan(1.2 * 2 ** 20);
  expect(target.picture.pixels[10 + 15 * sizePx]).not.toBe(0xffffffff);
  expect(target.picture.pixels[89 + (sizePx - 15) * sizePx]).not.toBe(0xffffffff);
});

test('areas of a large map take four bytes for 2^20 pixels at most', () => {
  const target = targetOf({ minX: 0, minY: 0, maxX: sizePx, maxY: sizePx });
  const ring: LineList = { xy: [0, 0, sizePx, 0, sizePx, sizePx, 0, sizePx], ends: [8], kinds: [ringPart] };
  const area = { box: target.picture.area, vertices: () => ring };
  expect(grownBytes(() => fillPlain(target, [area], black))).toBeLessThan(4.5 * 2 ** 20);
  expect(target.picture.pixels.every((pixel) => pixel === 0xff000000)).toBe(true);
});

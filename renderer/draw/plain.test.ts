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

test('thin lines in a narrow part of a large map are drawn from end to end', () => {
  const target = targetOf({ minX: 0, minY: 0, maxX: 100, maxY: sizePx });
  const line: LineList = { xy: [10, 10, 90, sizePx - 10], ends: [4], kinds: [linePart] };
  strokePlain(target, [line], { widthPx: 1, cap: 'butt', join: 'miter', miterLimit: 2 }, black);
  const { pixels } = target.picture.bitmap;
  const rows = Array.from({ length: sizePx }, (_, y) => pixels.subarray(y * sizePx, y * sizePx + 100));
  const drawn = rows.flatMap((row, y) => (row.some((pixel) => pixel !== 0xffffffff) ? [y] : []));
  expect(drawn).toEqual(Array.from({ length: sizePx - 20 }, (_, i) => i + 10));
});

test('areas of a large map are filled from side to side', () => {
  const target = targetOf({ minX: 0, minY: 0, maxX: sizePx, maxY: sizePx });
  const ring: LineList = { xy: [0, 0, sizePx, 0, sizePx, sizePx, 0, sizePx], ends: [8], kinds: [ringPart] };
  fillPlain(target, [{ box: target.picture.area, vertices: () => ring }], black);
  expect(target.picture.bitmap.pixels.every((pixel) => pixel === 0xff000000)).toBe(true);
});

test('a large map takes four bytes a pixel, two for its colours, and seven megabytes', () => {
  const before = process.memoryUsage().arrayBuffers;
  const { bitmap } = targetOf({ minX: 0, minY: 0, maxX: 1, maxY: 1 }).picture;
  // The test has an array of all pixels of its own.
  const grown = process.memoryUsage().arrayBuffers - before - bitmap.pixels.byteLength;
  expect(grown).toBeLessThan(6 * sizePx ** 2 + 7 * 2 ** 20);
});

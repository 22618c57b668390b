/** White pictures on which tests paint in black. */

import type { PixelBox } from '../../types.js';
import { inkOf, type Picture } from '../picture.js';

export const black = inkOf(0, 0, 0, 1);

/** Returns a white picture. Shapes may change `area`: all of it by default. */
export function whitePicture(
  width: number,
  height: number,
  area: PixelBox = { minX: 0, minY: 0, maxX: width, maxY: height },
): Picture {
  return { pixels: new Uint32Array(width * height).fill(0xffffffff), width, area };
}

/** Returns how black each pixel is, 0 to 1. */
export function darkness({ pixels }: Picture): number[] {
  return Array.from(pixels, (pixel) => 1 - (pixel & 255) / 255);
}

/** Returns the pixels of a box in a picture of the same size, in which all others are white. */
export function crop({ pixels, width }: Picture, { minX, minY, maxX, maxY }: PixelBox): Uint32Array {
  return pixels.map((pixel, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return x >= minX && x < maxX && y >= minY && y < maxY ? pixel : 0xffffffff;
  });
}

/** Returns the largest difference of grey, 0 to 255. */
export function largestDifference(a: Uint32Array, b: Uint32Array): number {
  return a.reduce((largest, pixel, i) => Math.max(largest, Math.abs((pixel & 255) - (b[i]! & 255))), 0);
}

/** White pictures on which tests paint in black, and what painting should do to a pixel. */
import type { PixelBox } from '../../types.js';
import { Bitmap } from '../bitmap.js';
import { type Ink, inkOf } from '../ink.js';
import type { Picture } from '../picture.js';

/** Opaque black. */
export const black = inkOf(0, 0, 0, 1);

const maxOpen = 8;
const open: Bitmap[] = [];

/** Returns a bitmap with these pixels. It stays valid until eight more were made. */
export function bitmapOf(width: number, pixels: Uint32Array): Bitmap {
  if (open.length === maxOpen) open.shift()!.close();
  const bitmap = new Bitmap(width, pixels.length / width);
  bitmap.pixels.set(pixels);
  open.push(bitmap);
  return bitmap;
}

/** Returns a white picture. Shapes may change `area`: all of it by default. It stays valid like {@link bitmapOf}. */
export function whitePicture(width: number, height: number, area?: PixelBox): Picture {
  const bitmap = bitmapOf(width, new Uint32Array(width * height).fill(0xffffffff));
  return { bitmap, area: area ?? bitmap.area };
}

/** Returns an opaque pixel after it was painted with an ink: each channel moves towards that of the ink. */
export function blended(pixel: number, { word, opacity }: Ink): number {
  const channels = [0, 8, 16].map((shift) => {
    const [below, above] = [(pixel >>> shift) & 255, (word >>> shift) & 255];
    return Math.floor(below + ((above - below) * opacity) / 256 + 0.5);
  });
  return (channels[0]! | (channels[1]! << 8) | (channels[2]! << 16) | 0xff000000) >>> 0;
}

/** Returns how black each pixel is, 0 to 1. */
export function darkness({ bitmap }: Picture): number[] {
  return Array.from(bitmap.pixels, (pixel) => 1 - (pixel & 255) / 255);
}

/** Returns the pixels of a box in a picture of the same size, in which all others are white. */
export function crop({ bitmap }: Picture, { minX, minY, maxX, maxY }: PixelBox): Uint32Array {
  return bitmap.pixels.map((pixel, i) => {
    const [x, y] = [i % bitmap.width, Math.floor(i / bitmap.width)];
    return x >= minX && x < maxX && y >= minY && y < maxY ? pixel : 0xffffffff;
  });
}

/** Returns the largest difference of grey, 0 to 255. */
export function largestDifference(a: Uint32Array, b: Uint32Array): number {
  return a.reduce((largest, pixel, i) => Math.max(largest, Math.abs((pixel & 255) - (b[i]! & 255))), 0);
}

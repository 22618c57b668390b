/** A picture against the one that was looked at. */
import sharp from 'sharp';
import { Picture } from '../testing/pictures.js';

/** Of 255, in a channel. */
export const tolerance = 32;
/** Of 255, in a channel: what storing an image may change. */
export const storedTolerance = 8;
/** Of an image's pixels. */
export const maxShareOff = 0.005;

/** What is wrong with a picture, or undefined. */
export function problemOf(drawn: Picture, expected: Picture): string | undefined {
  if (drawn.width !== expected.width || drawn.height !== expected.height) {
    return `is ${drawn.width} by ${drawn.height} pixels and was ${expected.width} by ${expected.height}`;
  }
  const share = drawn.differences(expected, tolerance) / (drawn.width * drawn.height);
  return share <= maxShareOff ? undefined : `has ${(100 * share).toFixed(2)} % of its pixels off`;
}

/** How far off each pixel is, from black to white. For pictures of the same size. */
export function differenceOf(drawn: Picture, expected: Picture): Picture {
  const off = drawn.pixels.map((value, i) => Math.abs(value - expected.pixels[i]!));
  return new Picture(off, drawn.width, drawn.height);
}

/** A small file whose colours are off by less than {@link storedTolerance}. */
export function stored({ pixels, width, height }: Picture): Promise<Buffer> {
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .webp({ nearLossless: true, quality: 60, effort: 6 })
    .toBuffer();
}

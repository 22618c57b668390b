/** Counts the colours of a picture. A pixel is red, green, blue and opacity in one word. */
import type { Bitmap } from '../raster/bitmap.js';
import type { PixelBox } from '../types.js';

/** The distinct colours of a picture. The arrays are valid until its next count. */
export interface Counted {
  /** Distinct colours, numbered from 1. */
  readonly colors: Uint32Array;
  readonly counts: Uint32Array;
  /** Number of each pixel's colour. */
  readonly numbers: Uint16Array;
}

/** Counts the colours of a bitmap. The result is valid until its next count. Null: there are too many colours. */
export function countColors(bitmap: Bitmap): Counted | null {
  return countedIn(bitmap, bitmap.painters.countColors());
}

/** Counts the colours of a bitmap that differs from a counted one in boxes, like {@link countColors}. */
export function countChanged(bitmap: Bitmap, before: Counted, boxes: readonly PixelBox[]): Counted | null {
  const { painters } = bitmap;
  let count = before.colors.length - 1;
  const { colors, counts, numbers } = countedIn(bitmap, count)!;
  colors.set(before.colors);
  counts.set(before.counts);
  numbers.set(before.numbers);
  painters.recallColors(count);
  for (const { minX, minY, maxX, maxY } of boxes) {
    count = painters.recount(minX, minY, maxX, maxY);
    if (count === 0) return null;
  }
  return countedIn(bitmap, count);
}

function countedIn({ painters, pixels }: Bitmap, count: number): Counted | null {
  if (count === 0) return null;
  const { memory, colorsAt, countsAt, numbersAfter } = painters;
  return {
    colors: new Uint32Array(memory.buffer, colorsAt.value, count + 1),
    counts: new Uint32Array(memory.buffer, countsAt.value, count + 1),
    numbers: new Uint16Array(memory.buffer, numbersAfter(pixels.length), pixels.length),
  };
}

/** Returns a copy that stays valid. */
export const kept = ({ colors, counts, numbers }: Counted): Counted => ({
  colors: colors.slice(),
  counts: counts.slice(),
  numbers: numbers.slice(),
});

/** Writes all pixels. */
export function putPixels({ colors, numbers }: Counted, pixels: Uint32Array): void {
  for (let i = 0; i < numbers.length; i++) pixels[i] = colors[numbers[i]!]!;
}

/** Returns the pixels of a box. */
export function pixelsIn({ colors, numbers }: Counted, width: number, box: PixelBox): Uint32Array {
  const pixels = new Uint32Array((box.maxX - box.minX) * (box.maxY - box.minY));
  let position = 0;
  for (let y = box.minY; y < box.maxY; y++) {
    const end = y * width + box.maxX;
    for (let i = y * width + box.minX; i < end; i++) pixels[position++] = colors[numbers[i]!]!;
  }
  return pixels;
}

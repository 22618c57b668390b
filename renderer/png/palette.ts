/**
 * Chooses at most 256 colours of a picture that look the same.
 *
 * All colours are exact while there is space. Otherwise the most frequent are. Rare ones, as on smoothed edges, change
 * by at most 7 of 255 in each channel. If they do not fit, it is 11 or 15. The palette follows from the picture alone.
 * A pixel is red, green, blue and opacity in one word. Opacity is ignored.
 */
import type { Bitmap } from '../raster/bitmap.js';
import type { Counted } from './colors.js';

/** Largest differences of a channel between a rare colour and its entry, tried in turn until all colours fit. */
const nearErrors = [7, 11, 15] as const;
/** Largest difference of a channel between a pixel and its palette entry. */
export const maxError = nearErrors[2];
const maxColors = 256;
/**
 * Number of the most frequent colours that are always kept, so that neighbouring areas stay distinct. All colours are
 * kept while there is space for all.
 */
const exactColors = 64;

interface Palette {
  /** Red, green and blue of each palette entry. */
  readonly channels: Uint8Array;
  /** Palette index of each distinct colour. */
  readonly entryOf: Uint8Array;
}

/** Width of a cell of the colour cube. Two colours of one cell differ by at most 7. */
const cellWidth = 8;
const cellBits = 5;
const cellCount = 1 << (3 * cellBits);
/** Number of the last cell along each side of the cube. */
const lastCell = (1 << cellBits) - 1;

/** Returns a palette, or null when the colours do not fit. */
export function choosePalette(bitmap: Bitmap, counted: Counted): Palette | null {
  const order = byCount(bitmap, counted);
  for (const nearError of nearErrors) {
    const palette = fitted(counted, order, nearError);
    if (palette) return palette;
  }
  return null;
}

function fitted({ colors }: Counted, order: Uint16Array, nearError: number): Palette | null {
  const chosen: number[] = [];
  const entryOf = new Uint8Array(colors.length);
  const cells = new Int16Array(cellCount).fill(-1);
  const exact = order.length <= maxColors ? maxColors : exactColors;
  for (let rank = 0; rank < order.length; rank++) {
    const number = order[rank]!;
    const color = colors[number]!;
    let entry = rank < exact ? -1 : entryNear(color, chosen, cells, nearError);
    if (entry < 0 && chosen.length === maxColors) entry = nearestEntry(color, chosen);
    if (entry < 0) {
      if (chosen.length === maxColors) return null;
      entry = chosen.push(color) - 1;
      const cell = cellOf(red(color) >> 3, green(color) >> 3, blue(color) >> 3);
      if (cells[cell]! < 0) cells[cell] = entry;
    }
    entryOf[number] = entry;
  }
  return { channels: Uint8Array.from(chosen.flatMap((color) => [red(color), green(color), blue(color)])), entryOf };
}

/**
 * Returns the numbers of the colours that occur, the most frequent first. Equally frequent ones are in the order of
 * their colours, because their numbers depend on how they were counted.
 */
function byCount({ painters }: Bitmap, { colors, counts }: Counted): Uint16Array {
  // Pairs of colour and inverted count, which are integers of 64 bits in the order of bytes of x64 and ARM. Sorting
  // integers takes half as long as sorting doubles.
  const pairs = new Uint32Array(2 * colors.length);
  let length = 0;
  for (let number = 1; number < colors.length; number++) {
    if (counts[number] === 0) continue;
    pairs[2 * length] = colors[number]!;
    pairs[2 * length + 1] = ~counts[number]!;
    length++;
  }
  new BigUint64Array(pairs.buffer, 0, length).sort();
  const numbers = new Uint16Array(length);
  for (let i = 0; i < length; i++) numbers[i] = painters.numberOf(pairs[2 * i]!);
  return numbers;
}

/** Returns the entry of the colour's cell, or of a cell around it within the error. Returns -1 when there is none. */
function entryNear(color: number, chosen: readonly number[], cells: Int16Array, nearError: number): number {
  const r = red(color) >> 3;
  const g = green(color) >> 3;
  const b = blue(color) >> 3;
  const own = cells[cellOf(r, g, b)]!;
  if (own >= 0) return own;
  const reach = Math.ceil(nearError / cellWidth);
  for (let nearR = Math.max(0, r - reach); nearR <= Math.min(lastCell, r + reach); nearR++) {
    for (let nearG = Math.max(0, g - reach); nearG <= Math.min(lastCell, g + reach); nearG++) {
      for (let nearB = Math.max(0, b - reach); nearB <= Math.min(lastCell, b + reach); nearB++) {
        const entry = cells[cellOf(nearR, nearG, nearB)]!;
        if (entry >= 0 && errorBetween(color, chosen[entry]!) <= nearError) return entry;
      }
    }
  }
  return -1;
}

/** Returns the nearest entry, or -1 when it differs by more than {@link maxError}. */
function nearestEntry(color: number, chosen: readonly number[]): number {
  let nearest = -1;
  let least = maxError + 1;
  for (let entry = 0; entry < chosen.length; entry++) {
    const error = errorBetween(color, chosen[entry]!);
    if (error >= least) continue;
    nearest = entry;
    least = error;
  }
  return nearest;
}

const red = (color: number): number => color & 255;
const green = (color: number): number => (color >> 8) & 255;
const blue = (color: number): number => (color >> 16) & 255;

const cellOf = (r: number, g: number, b: number): number => (r << (2 * cellBits)) | (g << cellBits) | b;

/** Returns the largest difference of a channel. */
const errorBetween = (a: number, b: number): number =>
  Math.max(Math.abs(red(a) - red(b)), Math.abs(green(a) - green(b)), Math.abs(blue(a) - blue(b)));

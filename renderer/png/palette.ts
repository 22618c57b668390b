/**
 * Counts the colours of a picture, and chooses at most 256 that look the same.
 *
 * All colours are exact while there is space. Otherwise the most frequent are. Rare ones, as on smoothed edges, change
 * by at most 7 of 255 in each channel. If they do not fit, it is 11 or 15. The palette follows from the picture alone.
 * A pixel is red, green, blue and opacity in one word. Opacity is ignored.
 */
import { pictureMemory } from '../reused-memory.js';
import type { PixelBox } from '../types.js';

/** Largest differences of a channel between a rare colour and its entry, tried in turn until all colours fit. */
const nearErrors = [7, 11, 15] as const;
export const maxError = nearErrors[2];
const maxColors = 256;
/** Maximum number of distinct colours. A map has some thousands. */
const maxDifferent = 16_384;
const slots = 4 * maxDifferent;
const slotShift = 32 - Math.log2(slots);
/**
 * Number of the most frequent colours that are always kept, so that neighbouring areas stay distinct. All colours are
 * kept while there is space for all.
 */
const exactColors = 64;

export interface Counted {
  /** Distinct colours, numbered from 1. */
  readonly colors: Uint32Array;
  readonly counts: Uint32Array;
  /** Number of each pixel's colour. */
  readonly numbers: Uint16Array;
}

/** A part of a picture that differs. */
export interface ChangedBox {
  /** In whole pixels of the picture. */
  readonly box: PixelBox;
  readonly pixels: Uint32Array;
}

/** Used by one picture at a time. Fresh memory would take a quarter of the time that counting takes. */
const table = new Uint16Array(slots);
const colors = new Uint32Array(maxDifferent + 1);
const counts = new Uint32Array(maxDifferent + 1);
let lastNumbers = new ArrayBuffer(0);
let different = 0;

/** Returns memory for the numbers of a picture's pixels, in place of the last picture's. */
function numbersFor(pixels: number): Uint16Array {
  pictureMemory.giveBack(lastNumbers);
  lastNumbers = pictureMemory.take(Uint16Array.BYTES_PER_ELEMENT * pixels);
  return new Uint16Array(lastNumbers, 0, pixels);
}

/** Returns the number of a colour, a new one if necessary. Returns 0 when there are too many. */
function numberOf(color: number): number {
  let slot = Math.imul(color, 0x9e3779b1) >>> slotShift;
  for (let number = table[slot]!; number !== 0; number = table[slot]!) {
    if (colors[number] === color) return number;
    slot = (slot + 1) & (slots - 1);
  }
  if (different === maxDifferent) return 0;
  table[slot] = ++different;
  colors[different] = color;
  counts[different] = 0;
  return different;
}

function startCounting(): void {
  table.fill(0);
  different = 0;
}

const countedAs = (numbers: Uint16Array): Counted => ({
  colors: colors.subarray(0, different + 1),
  counts: counts.subarray(0, different + 1),
  numbers,
});

/**
 * Counts the colours of a picture in one pass. Runs of one colour, which most of a map consists of, are nearly free.
 * The result is valid until the next count. Null: the picture has too many colours.
 */
export function countColors(pixels: Uint32Array): Counted | null {
  startCounting();
  const { length } = pixels;
  const numbers = numbersFor(length);
  for (let i = 0; i < length; ) {
    const color = pixels[i]!;
    const number = numberOf(color);
    if (number === 0) return null;
    const start = i;
    do numbers[i++] = number;
    while (i < length && pixels[i] === color);
    counts[number] = counts[number]! + i - start;
  }
  return countedAs(numbers);
}

/** Counts the colours of a picture that differs from another one in boxes, like {@link countColors}. */
export function countChanged(before: Counted, width: number, changed: readonly ChangedBox[]): Counted | null {
  startCounting();
  for (let number = 1; number < before.colors.length; number++) numberOf(before.colors[number]!);
  counts.set(before.counts);
  const numbers = numbersFor(before.numbers.length);
  numbers.set(before.numbers);
  for (const { box, pixels } of changed) {
    let position = 0;
    let number = 0;
    for (let y = box.minY; y < box.maxY; y++) {
      const end = y * width + box.maxX;
      for (let i = y * width + box.minX; i < end; i++) {
        const color = pixels[position++]!;
        if (number === 0 || color !== colors[number]) number = numberOf(color);
        if (number === 0) return null;
        const former = numbers[i]!;
        counts[former] = counts[former]! - 1;
        counts[number] = counts[number]! + 1;
        numbers[i] = number;
      }
    }
  }
  return countedAs(numbers);
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

export interface Palette {
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
export function choosePalette(counted: Counted): Palette | null {
  const order = byCount(counted);
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
function byCount({ colors, counts }: Counted): Uint16Array {
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
  for (let i = 0; i < length; i++) numbers[i] = numberOf(pairs[2 * i]!);
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

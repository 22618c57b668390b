/**
 * Encodes PNGs of at most 256 colours, one byte per pixel, when the result looks the same.
 *
 * Input: pixels. Output: a PNG file, or null when the picture has too many colours, as photographs have. The most
 * frequent colours are exact. Rare ones, as on smoothed edges, change by at most 7 of 255 in each channel, the rarest
 * by {@link maxError}.
 */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

export const maxError = 15;

const deflated = promisify<Uint8Array, { level: number; chunkSize: number }, Buffer>(deflate);
/** Size of a compressed piece. Usually one is enough, because each further piece waits for a thread. */
const compression = { level: 1, chunkSize: 262_144 };

const maxColors = 256;
/** Maximum number of distinct colours. A map has some thousands. */
const maxDifferent = 16_384;
const slots = 4 * maxDifferent;
const slotShift = 32 - Math.log2(slots);
/** Number of the most frequent colours that are always kept, so that neighbouring areas stay distinct. */
const exactColors = 64;

/** Encodes pixels of red, green, blue and opacity. Opacity is ignored. */
export async function encodeIndexedPng(pixels: Uint8Array, width: number, height: number): Promise<Buffer | null> {
  const counted = countColors(new Uint32Array(pixels.buffer, pixels.byteOffset, width * height));
  const palette = counted && choosePalette(counted);
  if (!palette) return null;
  const rows = rowsOf(counted.numbers, palette.entryOf, width, height);
  return pngFile(width, height, palette.colors, await deflated(rows, compression));
}

interface Counted {
  /** Distinct colours in order of appearance, numbered from 1. */
  readonly colors: Uint32Array;
  readonly counts: Uint32Array;
  /** Number of each pixel's colour. */
  readonly numbers: Uint16Array;
}

/** Number of pixels up to which the memory of {@link countColors} is kept for the next picture: 2 MiB. */
const maxKeptPixels = 2 ** 20;
/** Used by one picture at a time. Fresh memory would take a quarter of the time that counting takes. */
const table = new Uint16Array(slots);
const colors = new Uint32Array(maxDifferent + 1);
const counts = new Uint32Array(maxDifferent + 1);
let keptNumbers = new Uint16Array(0);

function numbersFor(pixels: number): Uint16Array {
  if (pixels <= keptNumbers.length) return keptNumbers;
  const numbers = new Uint16Array(pixels);
  if (pixels <= maxKeptPixels) keptNumbers = numbers;
  return numbers;
}

/**
 * Counts the colours in one pass. Runs of one colour, which most of a map consists of, are nearly free. The result is
 * valid until the next call.
 */
function countColors(pixels: Uint32Array): Counted | null {
  table.fill(0);
  counts.fill(0);
  const numbers = numbersFor(pixels.length);
  const length = pixels.length;
  let different = 0;
  for (let i = 0; i < length; ) {
    const color = pixels[i]!;
    let slot = Math.imul(color, 0x9e3779b1) >>> slotShift;
    let number = table[slot]!;
    while (number !== 0 && colors[number] !== color) {
      slot = (slot + 1) & (slots - 1);
      number = table[slot]!;
    }
    if (number === 0) {
      if (different === maxDifferent) return null;
      number = ++different;
      table[slot] = number;
      colors[number] = color;
    }
    const start = i;
    do numbers[i++] = number;
    while (i < length && pixels[i] === color);
    counts[number] = counts[number]! + i - start;
  }
  return { colors: colors.subarray(0, different + 1), counts: counts.subarray(0, different + 1), numbers };
}

interface Palette {
  /** Red, green and blue of each palette entry. */
  readonly colors: Uint8Array;
  /** Palette index of each distinct colour. */
  readonly entryOf: Uint8Array;
}

/** Width of a cell of the colour cube. Two colours of one cell differ by at most 7. */
const cellWidth = 8;
const cellBits = 5;
const cellCount = 1 << (3 * cellBits);
/** Number of the last cell along each side of the cube. */
const lastCell = (1 << cellBits) - 1;

function choosePalette({ colors, counts }: Counted): Palette | null {
  const chosen: number[] = [];
  const entryOf = new Uint8Array(colors.length);
  const cells = new Int16Array(cellCount).fill(-1);
  const order = byCount(counts);
  for (let rank = 0; rank < order.length; rank++) {
    const number = order[rank]!;
    const color = colors[number]!;
    let entry = rank < exactColors ? -1 : entryNear(color, chosen, cells);
    if (entry < 0 && chosen.length === maxColors) entry = nearestEntry(color, chosen);
    if (entry < 0) {
      if (chosen.length === maxColors) return null;
      entry = chosen.push(color) - 1;
      const cell = cellOf(red(color) >> 3, green(color) >> 3, blue(color) >> 3);
      if (cells[cell]! < 0) cells[cell] = entry;
    }
    entryOf[number] = entry;
  }
  return { colors: Uint8Array.from(chosen.flatMap((color) => [red(color), green(color), blue(color)])), entryOf };
}

/** Returns the colour numbers, the most frequent first. Sorting integers takes half as long as sorting doubles. */
function byCount(counts: Uint32Array): Uint16Array {
  const length = counts.length - 1;
  // Pairs of number and inverted count, which are integers of 64 bits in the order of bytes of x64 and ARM.
  const pairs = new Uint32Array(2 * length);
  for (let i = 0; i < length; i++) {
    pairs[2 * i] = i + 1;
    pairs[2 * i + 1] = ~counts[i + 1]!;
  }
  new BigUint64Array(pairs.buffer).sort();
  const numbers = new Uint16Array(length);
  for (let i = 0; i < length; i++) numbers[i] = pairs[2 * i]!;
  return numbers;
}

/** Returns the entry of the colour's cell, or of a neighbouring cell within 7. Returns -1 when there is none. */
function entryNear(color: number, chosen: readonly number[], cells: Int16Array): number {
  const r = red(color) >> 3;
  const g = green(color) >> 3;
  const b = blue(color) >> 3;
  const own = cells[cellOf(r, g, b)]!;
  if (own >= 0) return own;
  for (let nearR = Math.max(0, r - 1); nearR <= Math.min(lastCell, r + 1); nearR++) {
    for (let nearG = Math.max(0, g - 1); nearG <= Math.min(lastCell, g + 1); nearG++) {
      for (let nearB = Math.max(0, b - 1); nearB <= Math.min(lastCell, b + 1); nearB++) {
        const entry = cells[cellOf(nearR, nearG, nearB)]!;
        if (entry >= 0 && errorBetween(color, chosen[entry]!) < cellWidth) return entry;
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

/** Builds rows that start with the filter type: none. */
function rowsOf(numbers: Uint16Array, entryOf: Uint8Array, width: number, height: number): Uint8Array {
  const rows = new Uint8Array((width + 1) * height);
  for (let y = 0; y < height; y++) {
    const from = y * width;
    const to = from + y + 1;
    for (let x = 0; x < width; x++) rows[to + x] = entryOf[numbers[from + x]!]!;
  }
  return rows;
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Builds the file (https://www.w3.org/TR/png-3/): bit depth 8, colour type 3. */
function pngFile(width: number, height: number, palette: Uint8Array, data: Uint8Array): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    signature,
    ...chunk('IHDR', header),
    ...chunk('PLTE', palette),
    ...chunk('IDAT', data),
    ...chunk('IEND'),
  ]);
}

function chunk(type: string, data: Uint8Array = new Uint8Array()): Uint8Array[] {
  const [length, name, checksum] = [Buffer.alloc(4), Buffer.from(type, 'latin1'), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(data, crc32(name)));
  return [length, name, data, checksum];
}

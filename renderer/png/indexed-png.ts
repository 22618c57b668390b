/**
 * Encodes PNGs of at most 256 colours, one byte per pixel, when the result looks the same
 * (https://www.w3.org/TR/png-3/).
 *
 * Input: pixels (see `pixels.ts`), or their counted colours. Output: a PNG file, or null when the picture
 * has too many colours, as photographs have. All input is read before a promise is returned.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflate, type ZlibOptions } from 'node:zlib';
import { pictureMemory } from '../reused-memory.js';
import { type Counted, choosePalette, countColors } from './palette.js';

const deflated = promisify<Uint8Array, ZlibOptions, Buffer>(deflate);
/**
 * Runs of one colour are most of what repeats in a map. Usually one piece of this size is enough: each further one
 * waits for a thread.
 */
const compression: ZlibOptions = { strategy: constants.Z_RLE, chunkSize: 262_144 };

/** Encodes pixels, row by row. Returns null when they have too many colours. */
export function encodeIndexedPng(pixels: Uint32Array, width: number, height: number): Promise<Buffer> | null {
  const counted = countColors(pixels);
  return counted && encodeCounted(counted, width, height);
}

/** Encodes a picture whose colours were counted last. */
export function encodeCounted(counted: Counted, width: number, height: number): Promise<Buffer> | null {
  const palette = choosePalette(counted);
  if (!palette) return null;
  const size = (width + 1) * height;
  const memory = pictureMemory.take(size);
  const rows = new Uint8Array(memory, 0, size);
  writeRows(rows, counted.numbers, palette.entryOf, width, height);
  return deflated(rows, compression)
    .then((data) => pngFile(width, height, palette.channels, data))
    .finally(() => pictureMemory.giveBack(memory));
}

/**
 * Writes rows that start with the filter type: none. Four pixels take one turn of the loop, because a turn takes as
 * long as a pixel.
 */
function writeRows(rows: Uint8Array, numbers: Uint16Array, entryOf: Uint8Array, width: number, height: number): void {
  let from = 0;
  let to = 0;
  for (let y = 0; y < height; y++) {
    rows[to++] = 0;
    const end = from + width;
    for (; from + 4 <= end; from += 4, to += 4) {
      rows[to] = entryOf[numbers[from]!]!;
      rows[to + 1] = entryOf[numbers[from + 1]!]!;
      rows[to + 2] = entryOf[numbers[from + 2]!]!;
      rows[to + 3] = entryOf[numbers[from + 3]!]!;
    }
    while (from < end) rows[to++] = entryOf[numbers[from++]!]!;
  }
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Builds the file: bit depth 8, colour type 3. */
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

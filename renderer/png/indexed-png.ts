/**
 * Encodes PNGs of at most 256 colours, one byte per pixel, when the result looks the same
 * (https://www.w3.org/TR/png-3/).
 *
 * Input: pixels (see `pixels.ts`), or their counted colours. Output: a PNG file, or null when the picture
 * has too many colours, as photographs have. All input is read before a promise is returned.
 */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { pictureMemory } from '../reused-memory.js';
import { type Counted, choosePalette, countColors } from './palette.js';

const deflated = promisify<Uint8Array, { level: number; chunkSize: number }, Buffer>(deflate);
/** Size of a compressed piece. Usually one is enough, because each further piece waits for a thread. */
const compression = { level: 1, chunkSize: 262_144 };

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

/** Writes rows that start with the filter type: none. */
function writeRows(rows: Uint8Array, numbers: Uint16Array, entryOf: Uint8Array, width: number, height: number): void {
  for (let y = 0; y < height; y++) {
    const from = y * width;
    const to = from + y + 1;
    rows[to - 1] = 0;
    for (let x = 0; x < width; x++) rows[to + x] = entryOf[numbers[from + x]!]!;
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

/**
 * Encodes PNGs of at most 256 colours, one byte per pixel, when the result looks the same
 * (https://www.w3.org/TR/png-3/).
 *
 * Input: a bitmap, or its counted colours. Output: a PNG file, or null when the picture has too many colours, as
 * photographs have. All input is read before a promise is returned.
 */
import { promisify } from 'node:util';
import { constants, crc32, deflate, type ZlibOptions } from 'node:zlib';
import type { Bitmap } from '../raster/bitmap.js';
import { encodingMemory } from '../reused-memory.js';
import { type Counted, countColors } from './colors.js';
import { choosePalette } from './palette.js';

const deflated = promisify<Uint8Array, ZlibOptions, Buffer>(deflate);
/**
 * Runs of one colour are most of what repeats in a map. Usually one piece of this size is enough: each further one
 * waits for a thread.
 */
const compression: ZlibOptions = { strategy: constants.Z_RLE, chunkSize: 262_144 };

/** Encodes a bitmap, whose pixels are lost. Returns null when it has too many colours, and leaves it as it was. */
export function encodeIndexedPng(bitmap: Bitmap): Promise<Buffer> | null {
  const counted = countColors(bitmap);
  return counted && encodeCounted(bitmap, counted);
}

/** Encodes a bitmap whose colours were counted last, like {@link encodeIndexedPng}. */
export function encodeCounted(bitmap: Bitmap, counted: Counted): Promise<Buffer> | null {
  const palette = choosePalette(bitmap, counted);
  if (!palette) return null;
  const { width, height, painters } = bitmap;
  new Uint8Array(painters.memory.buffer, painters.entriesAt.value).set(palette.entryOf);
  painters.writeRows();
  // Compressed on another thread, while the bitmap's memory has the next picture.
  const size = (width + 1) * height;
  const memory = encodingMemory.take(size);
  const rows = new Uint8Array(memory, 0, size);
  rows.set(new Uint8Array(painters.memory.buffer, painters.pixelsAt.value, size));
  return deflated(rows, compression)
    .then((data) => pngFile(width, height, palette.channels, data))
    .finally(() => encodingMemory.giveBack(memory));
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

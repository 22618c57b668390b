/** Encodes pixels as PNG, WebP or JPEG. */

import type { Sharp } from 'sharp';
import { bytesOf } from './pixels.js';
import { encodeIndexedPng } from './png/indexed-png.js';
import { pictureMemory } from './reused-memory.js';
import { loadSharp } from './sharp.js';
import type { ImageFormat, MapImage } from './types.js';

export type Encoded = Pick<MapImage, 'bytes' | 'contentType'>;

/** Encoder options. Maps are opaque. Compression levels are the fastest that do not make files much larger. */
const encoders: Readonly<Record<ImageFormat, (pixels: Sharp) => Sharp>> = {
  png: (pixels) => pixels.png({ compressionLevel: 3 }),
  webp: (pixels) => pixels.webp({ quality: 80, effort: 1 }),
  jpg: (pixels) => pixels.jpeg({ quality: 80, mozjpeg: false }),
};

const contentTypes: Readonly<Record<ImageFormat, MapImage['contentType']>> = {
  png: 'image/png',
  webp: 'image/webp',
  jpg: 'image/jpeg',
};

/**
 * Encodes on another thread, so that the next map can be drawn meanwhile. Only the palette of a PNG is chosen on this
 * thread. The pixels may be changed as soon as this function returns its promise.
 */
export async function encodeImage(
  pixels: Uint32Array,
  width: number,
  height: number,
  format: ImageFormat,
): Promise<Encoded> {
  const indexed = format === 'png' ? encodeIndexedPng(pixels, width, height) : null;
  const bytes = indexed ?? encodeAllColors(pixels, width, height, format);
  return { bytes: await bytes, contentType: contentTypes[format] };
}

async function encodeAllColors(
  pixels: Uint32Array,
  width: number,
  height: number,
  format: ImageFormat,
): Promise<Uint8Array> {
  const memory = pictureMemory.take(pixels.byteLength);
  const copy = new Uint32Array(memory, 0, pixels.length);
  copy.set(pixels);
  const sharp = await loadSharp();
  try {
    return await encoders[format](
      sharp(bytesOf(copy), { raw: { width, height, channels: 4 } }).removeAlpha(),
    ).toBuffer();
  } finally {
    pictureMemory.giveBack(memory);
  }
}

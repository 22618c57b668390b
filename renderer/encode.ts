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
 * thread. The pixels must not be used any more: their memory is given back to `pictureMemory`.
 */
export async function encodeImage(
  pixels: Uint32Array,
  width: number,
  height: number,
  format: ImageFormat,
): Promise<Encoded> {
  const indexed = format === 'png' ? encodeIndexedPng(pixels, width, height) : null;
  if (indexed !== null) giveBack(pixels);
  const bytes = indexed ?? encodeAllColors(pixels, width, height, format).finally(() => giveBack(pixels));
  return { bytes: await bytes, contentType: contentTypes[format] };
}

async function encodeAllColors(
  pixels: Uint32Array,
  width: number,
  height: number,
  format: ImageFormat,
): Promise<Uint8Array> {
  const sharp = await loadSharp();
  return encoders[format](sharp(bytesOf(pixels), { raw: { width, height, channels: 4 } }).removeAlpha()).toBuffer();
}

const giveBack = ({ buffer }: Uint32Array): void => pictureMemory.giveBack(buffer as ArrayBuffer);

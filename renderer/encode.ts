/** Encodes pixels as PNG, WebP or JPEG. */
import type { Sharp } from 'sharp';
import { bytesOf } from './pixels.js';
import { encodeIndexedPng } from './png/indexed-png.js';
import type { Bitmap } from './raster/bitmap.js';
import { loadSharp } from './sharp.js';
import type { ImageFormat, MapImage } from './types.js';

/** The bytes of an image, with their media type. */
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
 * thread. The bitmap is closed.
 */
export async function encodeImage(bitmap: Bitmap, format: ImageFormat): Promise<Encoded> {
  const indexed = format === 'png' ? encodeIndexedPng(bitmap) : null;
  if (indexed !== null) bitmap.close();
  const bytes = indexed ?? encodeAllColors(bitmap, format).finally(() => bitmap.close());
  return { bytes: await bytes, contentType: contentTypes[format] };
}

async function encodeAllColors({ pixels, width, height }: Bitmap, format: ImageFormat): Promise<Uint8Array> {
  const sharp = await loadSharp();
  return encoders[format](sharp(bytesOf(pixels), { raw: { width, height, channels: 4 } }).removeAlpha()).toBuffer();
}

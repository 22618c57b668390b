/** Encodes a canvas as PNG, WebP or JPEG. */

import type { Canvas } from '@napi-rs/canvas';
import type { Sharp } from 'sharp';
import { encodeIndexedPng } from './png/indexed-png.js';
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
 * thread. The canvas may be changed as soon as this function returns its promise.
 */
export async function encodeImage(canvas: Canvas, format: ImageFormat): Promise<Encoded> {
  const { width, height } = canvas;
  const data = canvas.data();
  const indexed = format === 'png' ? await encodeIndexedPng(data, width, height) : null;
  const encode = async (): Promise<Uint8Array> => {
    const sharp = await loadSharp();
    return encoders[format](sharp(data, { raw: { width, height, channels: 4 } }).removeAlpha()).toBuffer();
  };
  return { bytes: indexed ?? (await encode()), contentType: contentTypes[format] };
}

/** Raster tiles: PNG, JPEG or WebP, decoded. */

import { type Image, loadImage } from '@napi-rs/canvas';
import { loadSharp } from '../sharp.js';

/** Tiles are 256 or 512 wide, at most twice that for dense screens; a larger image is a mistake or a bomb. */
const maxSidePx = 1024;
const formats = ['png', 'jpeg', 'webp'];

/** Rejects what is no such image, or too large a one; its header is read before its pixels. */
export async function decodeRasterTile(bytes: Uint8Array): Promise<Image> {
  const sharp = await loadSharp();
  const { format, width, height } = await sharp(bytes).metadata();
  if (!formats.includes(format)) throw new TypeError(`A tile of type ${format} can't be drawn`);
  if (width > maxSidePx || height > maxSidePx)
    throw new RangeError(`A tile of ${width} × ${height} pixels is too large`);
  return loadImage(bytes);
}

/** Decodes raster tiles: PNG, JPEG or WebP. */
import { type Image, loadImage } from '@napi-rs/canvas';
import { loadSharp } from '../sharp.js';

/**
 * Maximum side. Tiles are 256 or 512 wide, or twice that for dense screens. A larger image is an error or a
 * decompression bomb.
 */
const maxSidePx = 1024;
const formats = ['png', 'jpeg', 'webp'];

/**
 * Decodes an image. Rejects other files and images that are too large. The header is checked before the pixels are
 * decoded.
 */
export async function decodeRasterTile(bytes: Uint8Array): Promise<Image> {
  const sharp = await loadSharp();
  const { format, width, height } = await sharp(bytes).metadata();
  if (!formats.includes(format)) throw new TypeError(`A tile of type ${format} can't be drawn`);
  if (width > maxSidePx || height > maxSidePx)
    throw new RangeError(`A tile of ${width} × ${height} pixels is too large`);
  return loadImage(bytes);
}

/** Writes the two files of a sprite from a drawn sheet. */
import { loadSharp } from '../sharp.js';
import type { DrawnSheet } from './drawn-images.js';
import type { SpriteEntry } from './sprite-index.js';

/** Returns the index as JSON. */
export function indexFile({ entries }: DrawnSheet): Uint8Array {
  return Buffer.from(JSON.stringify(Object.fromEntries([...entries].map(([name, entry]) => [name, written(entry)]))));
}

/** Clients read a missing property as all of the image; they do not expect null. */
function written({ stretchX, stretchY, content, ...placed }: SpriteEntry) {
  return { ...placed, ...(stretchX && { stretchX }), ...(stretchY && { stretchY }), ...(content && { content }) };
}

/** Returns the picture as PNG. */
export async function pictureFile({ picture: { pixels, width, height } }: DrawnSheet): Promise<Uint8Array> {
  const sharp = await loadSharp();
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

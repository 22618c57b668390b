/** Draws sprites for tests. */
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import type { SpriteImages } from '../sprites/sprite-images.js';
import { SpriteStore } from '../sprites/sprite-store.js';
import type { SpriteFile } from '../types.js';

/** An image of a sprite that a test draws. */
export interface DrawnImage {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Fields of the index, except the position. */
  readonly more?: object;
  /** Draws the image. The context's unit is the CSS pixel. */
  paint(context: SKRSContext2D): void;
}

/** Returns an image of one colour. */
export function plain(color: string, width = 16, height = width, more: object = {}): DrawnImage {
  return {
    width,
    height,
    more,
    paint(context) {
      context.fillStyle = color;
      context.fillRect(0, 0, width, height);
    },
  };
}

/** Returns an image from rows of `#` (a pixel of the colour) and `.` (transparent). */
export function bitmapped(color: string, ...rows: readonly string[]): DrawnImage {
  return {
    width: rows[0]!.length,
    height: rows.length,
    paint(context) {
      context.fillStyle = color;
      for (const [y, row] of rows.entries()) {
        for (const [x, mark] of [...row].entries()) if (mark === '#') context.fillRect(x, y, 1, 1);
      }
    },
  };
}

/** Returns the sprite's two files, with the images side by side. */
export function spriteOf(images: Readonly<Record<string, DrawnImage>>, pixelRatio = 1, id = ''): SpriteFile {
  const all = Object.entries(images);
  const width = all.reduce((sum, [, image]) => sum + image.width, 0);
  const height = Math.max(...all.map(([, image]) => image.height));
  const canvas = createCanvas(width * pixelRatio, height * pixelRatio);
  const context = canvas.getContext('2d');
  const index: Record<string, object> = {};
  let left = 0;
  for (const [name, { width: own, height: high, more, paint }] of all) {
    context.save();
    context.setTransform(pixelRatio, 0, 0, pixelRatio, left * pixelRatio, 0);
    context.beginPath();
    context.rect(0, 0, own, high);
    context.clip();
    paint(context);
    context.restore();
    const place = { x: left * pixelRatio, y: 0, width: own * pixelRatio, height: high * pixelRatio, pixelRatio };
    index[name] = { ...place, ...more };
    left += own;
  }
  return { id, index: Buffer.from(JSON.stringify(index)), image: canvas.toBuffer('image/png') };
}

/** Returns the images as a renderer decodes them from a sprite. Throws a TypeError if it cannot. */
export async function imagesOf(images: Readonly<Record<string, DrawnImage>>, pixelRatio = 1): Promise<SpriteImages> {
  const decoded = await new SpriteStore().decode({ files: [spriteOf(images, pixelRatio)], missing: 0 });
  if (decoded.missing > 0) throw new TypeError('The sprite cannot be read');
  return decoded.images;
}

/** Icons on the canvas. */

import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';
import { outlinedIcon } from '../sprites/outline.js';
import type { PlacedIcon } from './label.js';

/** `scale` is device pixels per CSS pixel. */
export function drawIcon(context: SKRSContext2D, scale: number, { look, x, y, angle }: PlacedIcon): void {
  const { image, size, opacity } = look;
  const width = image.width * size * scale;
  const height = image.height * size * scale;
  context.globalAlpha = opacity;
  const canvas: Canvas = image.isSdf ? outlinedIcon(image, look, scale) : image.canvas();
  if (angle === 0) {
    // On whole pixels, so that what has the size of pixels stays sharp.
    context.setTransform(1, 0, 0, 1, Math.round(x * scale - width / 2), Math.round(y * scale - height / 2));
    context.drawImage(canvas, 0, 0, width, height);
    return;
  }
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  context.setTransform(cos, sin, -sin, cos, x * scale, y * scale);
  context.drawImage(canvas, -width / 2, -height / 2, width, height);
}

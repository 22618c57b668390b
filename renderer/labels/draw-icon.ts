/** Icons on the canvas. */

import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { outlinedIcon } from '../sprites/outline.js';
import type { Stretched } from '../sprites/stretch.js';
import type { PlacedIcon } from './label.js';

/** `scale` is device pixels per CSS pixel. */
export function drawIcon(context: SKRSContext2D, scale: number, icon: PlacedIcon): void {
  const { look, x, y, angle, columns, rows } = icon;
  const width = Math.max(1, Math.round(columns.length * scale));
  const height = Math.max(1, Math.round(rows.length * scale));
  const canvas = canvasOf(icon, scale);
  context.globalAlpha = look.opacity;
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

/** An outline is stretched as a whole. */
function canvasOf({ look, columns, rows }: PlacedIcon, scale: number): Canvas {
  if (look.image.isSdf) return outlinedIcon(look.image, look, scale);
  const isWhole = columns.parts.length === 1 && rows.parts.length === 1;
  return isWhole ? look.image.canvas() : stretchedCanvas(look.image.canvas(), columns, rows, scale);
}

/** Put together from its parts, on whole pixels, so that nothing is seen between them. */
function stretchedCanvas(image: Canvas, columns: Stretched, rows: Stretched, scale: number): Canvas {
  const edge = (length: number) => Math.round(length * scale);
  const canvas = createCanvas(Math.max(1, edge(columns.length)), Math.max(1, edge(rows.length)));
  const context = canvas.getContext('2d');
  for (const row of rows.parts) {
    for (const column of columns.parts) {
      const [left, top] = [edge(column.start), edge(row.start)];
      const [width, height] = [edge(column.end) - left, edge(row.end) - top];
      if (width === 0 || height === 0) continue;
      context.drawImage(
        image,
        column.from,
        row.from,
        column.to - column.from,
        row.to - row.from,
        left,
        top,
        width,
        height,
      );
    }
  }
  return canvas;
}

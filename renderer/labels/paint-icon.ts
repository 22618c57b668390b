/** Paints icons. The drawing engine scales a small icon once, and the pixels are blended wherever it is upright. */
import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { paintStamp, type Stamp, StampStore } from '../draw/stamp.js';
import type { Surface } from '../draw/surface.js';
import { createNumbering } from '../numbering.js';
import { sdfIcon } from '../sprites/outline.js';
import type { Stretched } from '../sprites/stretch.js';
import type { PixelBox } from '../types.js';
import type { PlacedIcon } from './label.js';

/** Memory of all scaled icons. */
const maxScaledBytes = 4 * 2 ** 20;
const scaledIcons = new StampStore(maxScaledBytes);
/** Number of pixels up to which icons are small. Styles set sizes of any kind. */
const maxSmallPixels = 2 ** 16;

const numberOf = createNumbering<Canvas>();

/** Returns whether {@link paintIcon} can paint an icon: it is upright and small. */
export function isPaintable(icon: PlacedIcon, scale: number): boolean {
  const { width, height } = sizeOf(icon, scale);
  return icon.angle === 0 && width * height <= maxSmallPixels;
}

/** Blends a small upright icon inside a box. `scale` is device pixels per CSS pixel. */
export function paintIcon(surface: Surface, scale: number, icon: PlacedIcon, box: PixelBox): void {
  const stamp = scaledIcon(icon, scale);
  const left = aligned(icon.x * scale - stamp.width / 2);
  const top = aligned(icon.y * scale - stamp.height / 2);
  paintStamp(surface, stamp, left, top, icon.paint.opacity, box);
}

function scaledIcon(icon: PlacedIcon, scale: number): Stamp {
  const canvas = canvasOf(icon, scale);
  const { width, height } = sizeOf(icon, scale);
  const key = `${numberOf(canvas)} ${width} ${height}`;
  return scaledIcons.get(key, width, height, (context) => context.drawImage(canvas, 0, 0, width, height));
}

/** Aligns an edge to whole pixels, so that an icon painted at its own size stays sharp. */
const aligned = (edge: number): number => Math.round(edge);

/** Returns an icon's size in whole device pixels. */
const sizeOf = ({ columns, rows }: PlacedIcon, scale: number): { readonly width: number; readonly height: number } => ({
  width: Math.max(1, Math.round(columns.length * scale)),
  height: Math.max(1, Math.round(rows.length * scale)),
});

/** Draws an icon with the drawing engine: one that is rotated or large. */
export function drawIcon(context: SKRSContext2D, scale: number, icon: PlacedIcon): void {
  const { paint, x, y, angle } = icon;
  const { width, height } = sizeOf(icon, scale);
  const image = canvasOf(icon, scale);
  context.globalAlpha = paint.opacity;
  if (angle === 0) {
    context.resetTransform();
    context.drawImage(image, aligned(x * scale - width / 2), aligned(y * scale - height / 2), width, height);
    return;
  }
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  context.setTransform(cos, sin, -sin, cos, x * scale, y * scale);
  context.drawImage(image, -width / 2, -height / 2, width, height);
}

/** Returns the icon's pixels. A signed distance field is stretched as a whole. */
function canvasOf({ paint, columns, rows }: PlacedIcon, scale: number): Canvas {
  if (paint.image.isSdf) return sdfIcon(paint.image, paint, scale);
  const isWhole = columns.parts.length === 1 && rows.parts.length === 1;
  return isWhole ? paint.image.canvas() : stretchedCanvas(paint.image.canvas(), columns, rows, scale);
}

/** Draws the parts of a stretchable image next to each other. Edges lie on whole pixels, so no gaps show. */
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

/** Paints icons. The drawing engine scales a small icon once, and the pixels are blended wherever it is upright. */

import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { LRUCache } from 'lru-cache';
import type { Surface } from '../draw/surface.js';
import { createNumbering } from '../numbering.js';
import { wordsOf } from '../pixels.js';
import { sdfIcon } from '../sprites/outline.js';
import type { Stretched } from '../sprites/stretch.js';
import type { PixelBox } from '../types.js';
import type { PlacedIcon } from './label.js';

/** An icon's pixels. Channels are multiplied by opacity. */
interface ScaledIcon {
  readonly pixels: Uint32Array;
  readonly width: number;
  readonly height: number;
}

/** Memory of all scaled icons. */
const maxScaledBytes = 4 * 2 ** 20;
const scaledIcons = new LRUCache<string, ScaledIcon>({ maxSize: maxScaledBytes });
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
  const { x, y, paint } = icon;
  const { pixels, width, height } = scaledIcon(icon, scale);
  const below = surface.pixels;
  const left = aligned(x * scale - width / 2);
  const top = aligned(y * scale - height / 2);
  const firstX = Math.max(left, box.minX);
  const endX = Math.min(left + width, box.maxX);
  const endY = Math.min(top + height, box.maxY);
  const opacity = Math.round(255 * paint.opacity);
  for (let row = Math.max(top, box.minY); row < endY; row++) {
    const from = (row - top) * width - left;
    const to = row * surface.width;
    for (let column = firstX; column < endX; column++) {
      const above = pixels[from + column]!;
      if (above !== 0) below[to + column] = blended(below[to + column]!, above, opacity);
    }
  }
}

function blended(below: number, above: number, opacity: number): number {
  const rest = 255 * 255 - opacity * (above >>> 24);
  const red = (below & 255) * rest + 255 * opacity * (above & 255);
  const green = ((below >> 8) & 255) * rest + 255 * opacity * ((above >> 8) & 255);
  const blue = ((below >> 16) & 255) * rest + 255 * opacity * ((above >> 16) & 255);
  return ((0xff << 24) | (byteOf(blue) << 16) | (byteOf(green) << 8) | byteOf(red)) >>> 0;
}

const byteOf = (product: number): number => Math.min(255, Math.round(product / (255 * 255)));

function scaledIcon(icon: PlacedIcon, scale: number): ScaledIcon {
  const canvas = canvasOf(icon, scale);
  const { width, height } = sizeOf(icon, scale);
  const key = `${numberOf(canvas)} ${width} ${height}`;
  let scaled = scaledIcons.get(key);
  if (!scaled) {
    const target = createCanvas(width, height);
    target.getContext('2d').drawImage(canvas, 0, 0, width, height);
    scaled = { pixels: wordsOf(target.data()), width, height };
    scaledIcons.set(key, scaled, { size: 4 * width * height });
  }
  return scaled;
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

/**
 * Draws lines with an image that repeats along them, as high as the line is wide, from the line's start.
 *
 * Each segment is filled separately, in its direction, and cut at the joint with the next one.
 */
import { type CanvasPattern, DOMMatrix, Path2D } from '@napi-rs/canvas';
import type { SpriteImage } from '../sprites/sprite-image.js';
import type { Coordinates } from '../tiles/coordinates.js';
import { point, polygon } from '../tiles/vector-tile.js';
import type { PixelBox } from '../types.js';
import type { Chunk } from './bucket.js';
import { offsetLines } from './offset.js';
import type { Pen } from './pen.js';
import { overlaps, type TileCanvas } from './tile-canvas.js';

/** A pen that draws with an image. Lengths in device pixels. */
interface Brush {
  readonly pattern: CanvasPattern;
  readonly image: { readonly width: number; readonly height: number };
  readonly width: number;
  /** Length of the image along the line. */
  readonly period: number;
}

/** Cosine of a turn up to which segments end square: a miter would be too long. */
const sharpTurn = -0.5;
/** Overlap of neighbouring segments, so that no gap is visible. */
const overlapPx = 0.3;

export function paintPatternLine(
  canvas: TileCanvas,
  pen: Pen,
  image: SpriteImage,
  chunks: readonly Chunk[],
  visible: PixelBox,
): void {
  const { context, unitPx } = canvas;
  const bitmap = image.bitmap();
  const pattern = context.createPattern(bitmap, 'repeat');
  const period = (bitmap.width / bitmap.height) * pen.wholeWidth * unitPx;
  const brush: Brush = { pattern, image: bitmap, width: pen.width * unitPx, period };
  context.globalAlpha = pen.opacity;
  for (const shape of chunks.flatMap((chunk) => chunk.shapes)) {
    if (shape.type === point) continue;
    const closed = shape.type === polygon;
    for (const side of pen.sides) {
      const coordinates = shape.coordinates();
      const line = side === 0 ? coordinates : offsetLines(coordinates, closed, side, pen.join, pen.miterLimit);
      paintLines(canvas, pen, brush, line, closed, visible);
    }
  }
}

function paintLines(
  canvas: TileCanvas,
  pen: Pen,
  brush: Brush,
  { xy, ends }: Coordinates,
  closed: boolean,
  visible: PixelBox,
): void {
  let start = 0;
  for (const end of ends) {
    const segments = segmentsOf(xy.slice(start, end), closed, canvas, pen);
    let travelled = 0;
    for (const [i, segment] of segments.entries()) {
      const before = segments[i - 1] ?? (closed ? segments.at(-1) : undefined);
      const after = segments[i + 1] ?? (closed ? segments[0] : undefined);
      if (overlaps(segment.box, visible)) paintSegment(canvas, brush, segment, before, after, travelled);
      travelled = (travelled + segment.length) % brush.period;
    }
    start = end;
  }
}

interface Segment {
  /** Start in device pixels. */
  readonly x: number;
  readonly y: number;
  readonly length: number;
  /** Direction of unit length. */
  readonly dx: number;
  readonly dy: number;
  /** Position in tile units. */
  readonly box: PixelBox;
}

function segmentsOf(xy: readonly number[], closed: boolean, canvas: TileCanvas, pen: Pen): Segment[] {
  const { left, top } = canvas.origin(pen.translate);
  const segments: Segment[] = [];
  for (let i = 0; i < xy.length - (closed ? 0 : 2); i += 2) {
    const [fromX, fromY] = [xy[i]!, xy[i + 1]!];
    const [toX, toY] = [xy[(i + 2) % xy.length]!, xy[(i + 3) % xy.length]!];
    const units = Math.hypot(toX - fromX, toY - fromY);
    if (units === 0) continue;
    segments.push({
      x: left + fromX * canvas.unitPx,
      y: top + fromY * canvas.unitPx,
      length: units * canvas.unitPx,
      dx: (toX - fromX) / units,
      dy: (toY - fromY) / units,
      box: {
        minX: Math.min(fromX, toX),
        minY: Math.min(fromY, toY),
        maxX: Math.max(fromX, toX),
        maxY: Math.max(fromY, toY),
      },
    });
  }
  return segments;
}

/** Draws in coordinates whose x axis runs along the segment from its start, with y to its right. */
function paintSegment(
  { context }: TileCanvas,
  { pattern, image, width, period }: Brush,
  segment: Segment,
  before: Segment | undefined,
  after: Segment | undefined,
  travelled: number,
): void {
  const { x, y, dx, dy, length } = segment;
  const half = width / 2;
  const begin = before ? cutOf(before, segment) * half : 0;
  const end = after ? cutOf(segment, after) * half : 0;
  const extra = after ? overlapPx : 0;
  context.setTransform(dx, dy, -dy, dx, x, y);
  pattern.setTransform(new DOMMatrix([period / image.width, 0, 0, width / image.height, -travelled, -half]));
  context.fillStyle = pattern;
  context.fill(
    new Path2D(
      `M${-begin} ${-half}L${length + end + extra} ${-half}L${length - end + extra} ${half}L${begin} ${half}Z`,
    ),
  );
}

/**
 * Returns how far a segment's left edge extends beyond the joint, and how far its right edge ends before it, in half
 * widths.
 */
function cutOf(a: Segment, b: Segment): number {
  const cosine = a.dx * b.dx + a.dy * b.dy;
  const turn = a.dx * b.dy - a.dy * b.dx;
  return cosine < sharpTurn ? 0 : turn / (1 + cosine);
}

/**
 * Draws lines segment by segment, for brushes that change along a line.
 *
 * Each segment is filled separately, in its direction, and cut at the joint with the next one.
 */
import { type CanvasGradient, type CanvasPattern, Path2D } from '@napi-rs/canvas';
import type { PixelBox } from '../types.js';
import type { Chunk } from './bucket.js';
import { linesBeside } from './offset.js';
import type { Pen } from './pen.js';
import { overlaps, type TileCanvas } from './tile-canvas.js';
import { isRing, type Lines, partsOf } from './vertices.js';

export interface Segment {
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

export interface Brush {
  /**
   * Returns the fill of a segment that begins `travelled` device pixels after the line's start. The x axis runs along
   * the segment from its start, with y to its right, in device pixels.
   */
  fillOf(segment: Segment, travelled: number): string | CanvasGradient | CanvasPattern;
}

/** Cosine of a turn up to which segments end square: a miter would be too long. */
const sharpTurn = -0.5;
/** Overlap of neighbouring segments, so that no gap is visible. */
const overlapPx = 0.3;

/** Draws the lines of the chunks. `brushFor` returns the brush of a line of this length in device pixels. */
export function paintSegments(
  canvas: TileCanvas,
  pen: Pen,
  chunks: readonly Chunk[],
  visible: PixelBox,
  brushFor: (lengthPx: number) => Brush,
): void {
  canvas.context.globalAlpha = pen.opacity;
  for (const part of chunks.flatMap((chunk) => partsOf(chunk.vertices()))) {
    const closed = isRing(part.kind);
    for (const line of linesBeside(part, closed, pen)) paintLines(canvas, pen, brushFor, line, closed, visible);
  }
}

function paintLines(
  canvas: TileCanvas,
  pen: Pen,
  brushFor: (lengthPx: number) => Brush,
  { xy, ends }: Lines,
  closed: boolean,
  visible: PixelBox,
): void {
  const width = pen.width * canvas.unitPx;
  const all = Array.from(xy);
  let start = 0;
  for (const end of ends) {
    const segments = segmentsOf(all.slice(start, end), closed, canvas, pen);
    const brush = brushFor(segments.reduce((sum, { length }) => sum + length, 0));
    let travelled = 0;
    for (const [i, segment] of segments.entries()) {
      const before = segments[i - 1] ?? (closed ? segments.at(-1) : undefined);
      const after = segments[i + 1] ?? (closed ? segments[0] : undefined);
      if (overlaps(segment.box, visible)) paintSegment(canvas, brush, width, segment, before, after, travelled);
      travelled += segment.length;
    }
    start = end;
  }
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
  brush: Brush,
  width: number,
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
  context.fillStyle = brush.fillOf(segment, travelled);
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

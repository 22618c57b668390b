/**
 * Draws lines segment by segment, for brushes that change along a line.
 *
 * Each segment is filled separately, in its direction, and cut at the joint with the next one. The outline of the whole
 * line bounds what is filled, so joins and caps are those of other lines.
 */
import { type CanvasGradient, type CanvasPattern, Path2D, StrokeCap, StrokeJoin } from '@napi-rs/canvas';
import { overlaps } from '../tiles/coordinates.js';
import type { PixelBox } from '../types.js';
import type { Chunk } from './bucket.js';
import { linesBeside } from './offset.js';
import type { Pen } from './pen.js';
import type { TileCanvas } from './tile-canvas.js';
import { isRing, type Lines, partsOf } from './vertices.js';

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

/** Colours a line along its way. */
export interface Brush {
  /**
   * Returns the fill of a segment that begins `travelled` device pixels after the line's start. The x axis runs along
   * the segment from its start, with y to its right, in device pixels.
   */
  fillOf(segment: Segment, travelled: number): string | CanvasGradient | CanvasPattern;
}

/** Cosine of a turn up to which segments end square: a miter would be too long. */
const sharpTurn = -0.95;
/** Overlaps of neighbouring segments across their joint: no pixel of it shows a gap. */
const overlapPx = 0.5;
/** A pixel of an overlap is painted twice. */
const translucentOverlapPx = 0.3;
/** How far a fill reaches beyond the outline, whose edge is then the only one that is antialiased. */
const beyondPx = 1;

const caps = { butt: StrokeCap.Butt, round: StrokeCap.Round, square: StrokeCap.Square };
const joins = { bevel: StrokeJoin.Bevel, round: StrokeJoin.Round, miter: StrokeJoin.Miter };

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
  const { context } = canvas;
  const all = Array.from(xy);
  let start = 0;
  for (const end of ends) {
    const segments = segmentsOf(all.slice(start, end), closed, canvas, pen);
    start = end;
    if (!segments.some(({ box }) => overlaps(box, visible))) continue;
    const brush = brushFor(segments.reduce((sum, { length }) => sum + length, 0));
    const radius = (pen.width * canvas.unitPx) / 2 + beyondPx;
    context.save();
    context.resetTransform();
    context.clip(outlineOf(segments, closed, canvas, pen));
    let travelled = 0;
    for (const [i, segment] of segments.entries()) {
      const before = segments[i - 1] ?? (closed ? segments.at(-1) : undefined);
      const after = segments[i + 1] ?? (closed ? segments[0] : undefined);
      if (overlaps(segment.box, visible)) paintSegment(canvas, brush, radius, segment, before, after, travelled);
      travelled += segment.length;
    }
    context.restore();
  }
}

/** Returns the area that a pen covers on joined segments. */
function outlineOf(segments: readonly Segment[], closed: boolean, canvas: TileCanvas, pen: Pen): Path2D {
  let data = '';
  for (const { x, y } of segments) data += `${data === '' ? 'M' : 'L'}${x} ${y}`;
  const { x, y, dx, dy, length } = segments.at(-1)!;
  data += closed ? 'Z' : `L${x + dx * length} ${y + dy * length}`;
  const { cap, join, miterLimit, width } = pen;
  return new Path2D(data).stroke({ width: width * canvas.unitPx, cap: caps[cap], join: joins[join], miterLimit });
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
  radius: number,
  segment: Segment,
  before: Segment | undefined,
  after: Segment | undefined,
  travelled: number,
): void {
  const { x, y, dx, dy, length } = segment;
  const [beginLeft, beginRight] = before ? cutsOf(before, segment, radius, before.length) : [radius, radius];
  const [endLeft, endRight] = after ? cutsOf(segment, after, radius, after.length) : [radius, radius];
  context.setTransform(dx, dy, -dy, dx, x, y);
  context.fillStyle = brush.fillOf(segment, travelled);
  // The sharper the turn, the flatter is the joint, and the longer an overlap of the same width.
  const acrossPx = context.globalAlpha < 1 ? translucentOverlapPx : overlapPx;
  const extra = after ? (acrossPx * Math.hypot(endRight - endLeft, 2 * radius)) / (2 * radius) : 0;
  const right = `M${-beginLeft} ${-radius}L${length + endLeft + extra} ${-radius}`;
  context.fill(new Path2D(`${right}L${length + endRight + extra} ${radius}L${-beginRight} ${radius}Z`));
}

/**
 * Returns how far the left and the right edges of two segments extend beyond their joint. The inner edge ends before
 * it, where the edge of the other segment begins: not farther back than that segment, of the length `otherPx`, reaches.
 */
function cutsOf(a: Segment, b: Segment, radius: number, otherPx: number): readonly [left: number, right: number] {
  const cosine = a.dx * b.dx + a.dy * b.dy;
  if (cosine < sharpTurn) return [radius, radius];
  const cut = (radius * (a.dx * b.dy - a.dy * b.dx)) / (1 + cosine);
  const inner = Math.max(-Math.abs(cut), radius - otherPx);
  return cut > 0 ? [cut, inner] : [inner, -cut];
}

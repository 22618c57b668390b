/** Draws layers of type `line`: lines and outlines of areas. */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import { Path2D } from '@napi-rs/canvas';
import { isPerFeature } from '../style/property.js';
import { overlaps } from '../tiles/coordinates.js';
import type { PixelBox } from '../types.js';
import { sharpLine } from './blur.js';
import type { Chunk } from './bucket.js';
import { dashLines, unbroken } from './dash.js';
import { paintGradientLine } from './line-gradient.js';
import { paintPatternLine } from './line-pattern.js';
import { isOnLine, linesBeside } from './offset.js';
import type { VectorPainter } from './painter.js';
import { type Origin, pathData } from './path.js';
import { patternAt } from './pattern.js';
import { type Pen, penOf } from './pen.js';
import { plainInk, strokePlain } from './plain.js';
import type { TileCanvas } from './tile-canvas.js';
import { isRing, type LineList, linePart, partsOf } from './vertices.js';

/** The painter of line layers. */
export const linePainter: VectorPainter = {
  properties: [
    ...['line-color', 'line-opacity', 'line-width', 'line-gap-width', 'line-offset', 'line-dasharray'],
    ...['line-join', 'line-miter-limit', 'line-pattern', 'line-blur'],
  ],
  sortKey: 'line-sort-key',
  clipped: true,
  finish(layer, zoom, scale) {
    const blur = layer.property<number>('line-blur');
    const width = layer.property<number>('line-width');
    const blurPx = isPerFeature(blur) ? 0 : scale * Math.max(0, blur.at(zoom));
    // Where the width depends on the feature, lines count as wide: one blur is for the whole layer.
    const widthPx = isPerFeature(width) ? 2 * blurPx + 1 : scale * width.at(zoom);
    return {
      opacity: layer.property<number>('line-layer-opacity').at(zoom),
      blurPx: blurPx === 0 ? 0 : sharpLine(widthPx, blurPx).deviation,
    };
  },
  paint(canvas, layer, { feature, chunks }) {
    const pen = penOf(canvas, layer, feature);
    if (!pen) return;
    const image = patternAt(canvas.frame, layer, 'line-pattern', feature);
    const gradient = layer.property<Color | undefined>('line-gradient');
    const isGradient = gradient.text !== '';
    if (image === 'missing' || (image === null && !isGradient && pen.color.a === 0)) return;
    const visible = canvas.visible(pen.reach, pen.translate);
    if (image !== null || isGradient) {
      const seen = chunks.filter((chunk) => overlaps(chunk.box, visible));
      if (image !== null) paintPatternLine(canvas, pen, image, seen, visible);
      else paintGradientLine(canvas, pen, (share) => gradient.along!(share)!, seen, visible);
      return;
    }
    // Clipped lines are relative to the view's corner, so that numbers stay small.
    const origin: Origin = pen.dashes ? [Math.floor(visible.minX), Math.floor(visible.minY)] : [0, 0];
    usePen(canvas, pen, origin);
    for (const chunk of chunks) {
      if (overlaps(chunk.box, visible)) canvas.context.stroke(strokedPath(chunk, pen, visible, origin));
    }
  },
  plain: {
    handles: (layer) => layer.property('line-pattern').text === '' && layer.property('line-gradient').text === '',
    paint(canvas, layer, { feature, chunks }) {
      const pen = penOf(canvas, layer, feature);
      if (!pen || pen.color.a === 0) return;
      const visible = canvas.visible(pen.reach, pen.translate);
      const { cap, join, miterLimit } = pen;
      const style = { widthPx: pen.width * canvas.unitPx, cap, join, miterLimit };
      const lines = chunks
        .filter((chunk) => overlaps(chunk.box, visible))
        .flatMap((chunk) => drawnLines(chunk, pen, visible));
      strokePlain(canvas.target(pen.translate), lines, style, plainInk(pen.color, pen.opacity));
    },
  },
};

/** Returns lines as they are stroked: moved to the sides, and cut into dashes. */
function drawnLines(chunk: Chunk, pen: Pen, visible: PixelBox): LineList[] {
  const { dashes } = pen;
  const isWhole = dashes === null || dashes === unbroken;
  if (isWhole && isOnLine(pen)) return [chunk.vertices()];
  return partsOf(chunk.vertices()).flatMap((part) => {
    const closed = isRing(part.kind);
    return linesBeside(part, closed, pen).map((moved) => {
      const { xy, ends } = isWhole ? moved : dashLines(moved, closed, dashes, visible);
      return { xy, ends, kinds: Array.from(ends, () => (isWhole ? part.kind : linePart)) };
    });
  });
}

function usePen(canvas: TileCanvas, pen: Pen, origin: Origin): void {
  const { context } = canvas;
  canvas.useTileUnits(pen.translate, pen.precision, origin);
  context.strokeStyle = pen.color.toString();
  context.globalAlpha = pen.opacity;
  context.lineWidth = pen.width * pen.precision;
  context.lineCap = pen.cap;
  context.lineJoin = pen.join;
  context.miterLimit = pen.miterLimit;
}

/** Returns the path of lines. Whole lines are cached; clipped lines are computed each time. */
function strokedPath(chunk: Chunk, pen: Pen, visible: PixelBox, origin: Origin): Path2D {
  if (pen.dashes) return derivedPath(chunk, pen, visible, origin);
  if (isOnLine(pen)) return chunk.path();
  const key = [pen.precision, pen.join, pen.miterLimit, pen.offset, pen.bend, ...pen.sides].join();
  return chunk.derivedPath(key, () => derivedPath(chunk, pen, visible, origin));
}

function derivedPath(chunk: Chunk, pen: Pen, visible: PixelBox, origin: Origin): Path2D {
  const { dashes, precision } = pen;
  let data = '';
  for (const part of partsOf(chunk.vertices())) {
    const closed = isRing(part.kind);
    for (const line of linesBeside(part, closed, pen)) {
      if (dashes) data += pathData(dashLines(line, closed, dashes, visible), false, precision, origin);
      else data += pathData(line, closed, precision, origin);
    }
  }
  return new Path2D(data);
}

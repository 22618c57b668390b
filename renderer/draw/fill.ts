/** Draws layers of type `fill`, and of type `fill-extrusion` as seen from above. */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { StyleLayer } from '../style/compile.js';
import type { Batch } from './bucket.js';
import type { VectorPainter } from './painter.js';
import { patternAt, repeated } from './pattern.js';
import { overlaps, type TileCanvas, type Translate } from './tile-canvas.js';

export const fillPainter: VectorPainter = {
  properties: ['fill-color', 'fill-opacity', 'fill-outline-color', 'fill-pattern'],
  sortKey: 'fill-sort-key',
  clipped: true,
  paint(canvas, layer, batch) {
    const isThere = fill(canvas, layer, batch, 'fill');
    if (isThere) outline(canvas, layer, batch);
  },
};

export const extrusionPainter: VectorPainter = {
  properties: ['fill-extrusion-color', 'fill-extrusion-pattern'],
  sortKey: null,
  clipped: true,
  paint(canvas, layer, batch) {
    fill(canvas, layer, batch, 'fill-extrusion');
  },
};

/** Fills areas. Returns false when nothing is drawn, not even an outline, because the pattern's image is missing. */
function fill(
  canvas: TileCanvas,
  layer: StyleLayer,
  { feature, chunks }: Batch,
  type: 'fill' | 'fill-extrusion',
): boolean {
  const { context, zoom, frame, unitPx } = canvas;
  const color = layer.property<Color>(`${type}-color`).at(zoom, feature);
  const opacity = layer.property<number>(`${type}-opacity`).at(zoom, feature);
  const image = patternAt(frame, layer, `${type}-pattern`, feature);
  if (image === 'missing') return false;
  if ((image === null && color.a === 0) || opacity === 0) return true;
  const translate = layer.property<Translate>(`${type}-translate`).at(zoom);
  const visible = canvas.visible(0, translate);
  canvas.useTileUnits(translate);
  context.fillStyle =
    image === null ? color.toString() : repeated(frame, image, { px: unitPx, ...canvas.origin(translate) });
  context.globalAlpha = opacity;
  for (const chunk of chunks) {
    if (overlaps(chunk.box, visible)) context.fill(chunk.path());
  }
  return true;
}

/**
 * Slightly less than one device pixel. The drawing engine has a fast path up to one pixel, which takes a third of the
 * time, and rounding must not exceed it.
 */
const outlinePx = 1 - 2 ** -12;

/** Draws outlines of one device pixel, if the style sets their colour. */
function outline(canvas: TileCanvas, layer: StyleLayer, { feature, chunks }: Batch): void {
  const { context, zoom } = canvas;
  const color = layer.property<Color | undefined>('fill-outline-color').at(zoom, feature);
  const opacity = layer.property<number>('fill-opacity').at(zoom, feature);
  if (!color || color.a === 0 || opacity === 0 || !layer.property<boolean>('fill-antialias').at(zoom)) return;
  const translate = layer.property<Translate>('fill-translate').at(zoom);
  const visible = canvas.visible(1 / canvas.unitPx, translate);
  canvas.useTileUnits(translate);
  context.strokeStyle = color.toString();
  context.globalAlpha = opacity;
  context.lineWidth = outlinePx / canvas.unitPx;
  context.lineJoin = 'bevel';
  for (const chunk of chunks) {
    if (overlaps(chunk.box, visible)) context.stroke(chunk.path());
  }
}

/** Draws layers of type `fill`, and of type `fill-extrusion` as seen from above. */
import { Color } from '@maplibre/maplibre-gl-style-spec';
import type { StrokeStyle } from '../raster/stroke.js';
import type { StyleLayer } from '../style/compile.js';
import { overlaps } from '../tiles/coordinates.js';
import type { PixelBox } from '../types.js';
import type { Batch } from './bucket.js';
import type { VectorPainter } from './painter.js';
import { patternAt, repeated } from './pattern.js';
import { fillPlain, plainInk, strokePlain } from './plain.js';
import type { TileCanvas, Translate } from './tile-canvas.js';

/** The painter of fill layers. */
export const fillPainter: VectorPainter = {
  properties: ['fill-color', 'fill-opacity', 'fill-outline-color', 'fill-pattern'],
  sortKey: 'fill-sort-key',
  clipped: true,
  near: (canvas, layer) => near(canvas, layer, 'fill-translate'),
  finish: (layer, zoom) => ({ opacity: layer.property<number>('fill-layer-opacity').at(zoom), blurPx: 0 }),
  paint(canvas, layer, batch) {
    const opacity = layer.property<number>('fill-opacity').at(canvas.zoom, batch.feature);
    const isThere = fill(canvas, layer, batch, 'fill', opacity);
    const ink = isThere && outlineOf(canvas, layer, batch);
    if (ink)
      strokeEdges(canvas, batch, ink.color, ink.opacity, layer.property<Translate>('fill-translate').at(canvas.zoom));
  },
  plain: {
    handles: (layer) => layer.property('fill-pattern').text === '',
    paint(canvas, layer, batch) {
      const { feature } = batch;
      const { zoom } = canvas;
      const color = layer.property<Color>('fill-color').at(zoom, feature);
      const opacity = layer.property<number>('fill-opacity').at(zoom, feature);
      const translate = layer.property<Translate>('fill-translate').at(zoom);
      const visible = canvas.visible(1 / canvas.unitPx, translate);
      const chunks = batch.chunks.filter((chunk) => overlaps(chunk.box, visible));
      const target = canvas.target(translate);
      if (color.a * opacity > 0) fillPlain(target, chunks, plainInk(color, opacity));
      const outline = outlineOf(canvas, layer, batch);
      if (!outline) return;
      const lines = chunks.map((chunk) => chunk.vertices());
      strokePlain(target, lines, outlineStyle, plainInk(outline.color, outline.opacity));
    },
  },
};

const outlineStyle: StrokeStyle = { widthPx: 1, cap: 'butt', join: 'bevel', miterLimit: 1 };

/** Buildings from above: roofs with their edges, higher parts on top. The opacity is that of the whole layer. */
export const extrusionPainter: VectorPainter = {
  properties: ['fill-extrusion-color', 'fill-extrusion-pattern'],
  sortKey: 'fill-extrusion-height',
  clipped: true,
  near: (canvas, layer) => near(canvas, layer, 'fill-extrusion-translate'),
  finish: (layer, zoom) => ({ opacity: layer.property<number>('fill-extrusion-opacity').at(zoom), blurPx: 0 }),
  paint(canvas, layer, batch) {
    const isPatterned = layer.property('fill-extrusion-pattern').text !== '';
    if (!fill(canvas, layer, batch, 'fill-extrusion', 1) || isPatterned) return;
    const { zoom } = canvas;
    const color = layer.property<Color>('fill-extrusion-color').at(zoom, batch.feature);
    const [r, g, b, a] = [edgeShade * color.r, edgeShade * color.g, edgeShade * color.b, color.a];
    const translate = layer.property<Translate>('fill-extrusion-translate').at(zoom);
    if (a > 0) strokeEdges(canvas, batch, new Color(r, g, b, a), 1, translate);
  },
};

/** Returns the visible part with a margin for outlines. */
const near = (canvas: TileCanvas, layer: StyleLayer, translate: string): PixelBox =>
  canvas.visible(1 / canvas.unitPx, layer.property<Translate>(translate).at(canvas.zoom));

/** Brightness of a building's edges, as a share of its roof's: walls that face away from the light. */
const edgeShade = 0.84;

/** Fills areas. Returns false when nothing is drawn, not even an outline, because the pattern's image is missing. */
function fill(
  canvas: TileCanvas,
  layer: StyleLayer,
  { feature, chunks }: Batch,
  type: 'fill' | 'fill-extrusion',
  opacity: number,
): boolean {
  const { context, zoom, frame, unitPx } = canvas;
  const color = layer.property<Color>(`${type}-color`).at(zoom, feature);
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

/** Returns how outlines are drawn; undefined when the style sets no colour, or nothing would be visible. */
function outlineOf(
  { zoom }: TileCanvas,
  layer: StyleLayer,
  { feature }: Batch,
): { readonly color: Color; readonly opacity: number } | undefined {
  const color = layer.property<Color | undefined>('fill-outline-color').at(zoom, feature);
  const opacity = layer.property<number>('fill-opacity').at(zoom, feature);
  const isSmooth = layer.property<boolean>('fill-antialias').at(zoom);
  return color && color.a * opacity > 0 && isSmooth ? { color, opacity } : undefined;
}

/** Draws lines of one device pixel. */
function strokeEdges(canvas: TileCanvas, { chunks }: Batch, color: Color, opacity: number, translate: Translate): void {
  const { context } = canvas;
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

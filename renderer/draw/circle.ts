/**
 * Draws layers of type `circle`. A circle is drawn completely by the tile that contains its centre, even if that tile
 * is beside the view.
 */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { SKRSContext2D } from '@napi-rs/canvas';
import type { CompiledStyle, StyleLayer } from '../style/compile.js';
import { isPerFeature } from '../style/property.js';
import { blurredColors } from './blur.js';
import type { VectorPainter } from './painter.js';
import type { Translate } from './tile-canvas.js';

/** Limits how far circles reach from outside into a view. CSS pixels. */
const maxReachPx = 128;
/** Assumed where the size of circles depends on the feature. CSS pixels. */
const assumedPx = 64;

/**
 * Width of the edge of a circle without blur, in device pixels. It lies inside the radius, as that of MapLibre GL JS
 * does, so that circles are half of it smaller than their radius.
 */
const edgePx = 1;
/** Smaller circles are paler, because they are little more than an edge. Device pixels, with the stroke. */
const minSharpPx = 2;

/** Returns how far circles reach beyond their centres, in CSS pixels: tiles so far beside a view are needed too. */
export function reachIntoView({ layers }: CompiledStyle, source: string, zoom: number): number {
  const circles = layers.filter((layer) => layer.type === 'circle' && layer.source === source && layer.isVisible(zoom));
  return Math.min(maxReachPx, Math.max(0, ...circles.map((layer) => reachPx(layer, zoom))));
}

function reachPx(layer: StyleLayer, zoom: number): number {
  const lengthOf = (name: string) => {
    const property = layer.property<number>(name);
    return isPerFeature(property) ? assumedPx : property.at(zoom);
  };
  const shift = layer.property<Translate>('circle-translate').at(zoom);
  return lengthOf('circle-radius') + lengthOf('circle-stroke-width') + Math.max(...shift.map(Math.abs));
}

/** The painter of circle layers. */
export const circlePainter: VectorPainter = {
  properties: [
    ...['circle-blur', 'circle-color', 'circle-opacity', 'circle-radius'],
    ...['circle-stroke-color', 'circle-stroke-opacity', 'circle-stroke-width'],
  ],
  sortKey: 'circle-sort-key',
  clipped: false,
  paint(canvas, layer, { feature, chunks }) {
    const { context, zoom, extent, unitPx, unitsPerPx } = canvas;
    const paint = <T>(name: string): T => layer.property<T>(name).at(zoom, feature);
    const radius = paint<number>('circle-radius') * unitsPerPx;
    const strokeWidth = paint<number>('circle-stroke-width') * unitsPerPx;
    const opacity = paint<number>('circle-opacity');
    const strokeOpacity = paint<number>('circle-stroke-opacity');
    const translate = paint<Translate>('circle-translate');
    const visible = canvas.image(radius + strokeWidth, translate);

    // In device pixels from the corner of the visible part: a tile unit may be thousands of them.
    canvas.useTileUnits(translate, unitPx, [visible.minX, visible.minY]);
    context.fillStyle = paint<Color>('circle-color').toString();
    context.strokeStyle = paint<Color>('circle-stroke-color').toString();
    context.lineWidth = strokeWidth * unitPx;
    const wholePx = (radius + strokeWidth) * unitPx;
    const edge = edgePx / wholePx;
    const blur = Math.max(edge, paint<number>('circle-blur'));
    const blurred =
      (blur > edge || wholePx < minSharpPx) &&
      blurredColors({
        radius,
        strokeWidth,
        blur,
        fillOpacity: opacity,
        strokeOpacity,
        fill: paint('circle-color'),
        stroke: paint('circle-stroke-color'),
      });
    const sharpPx = Math.max(0, radius * unitPx - edgePx / 2);
    // An opaque stroke lies on the edge of the fill, or what is below would show through both edges.
    const isHidden = strokeOpacity * paint<Color>('circle-stroke-color').a === 1;
    const fillPx = sharpPx + (isHidden ? Math.min(edgePx, context.lineWidth / 2) : 0);
    const dot = (x: number, y: number) => {
      if (x < visible.minX || x > visible.maxX || y < visible.minY || y > visible.maxY) return;
      const [centerX, centerY] = [(x - visible.minX) * unitPx, (y - visible.minY) * unitPx];
      if (blurred) {
        paintBlurred(context, centerX, centerY, wholePx, blurred);
        return;
      }
      context.globalAlpha = opacity;
      context.beginPath();
      context.arc(centerX, centerY, fillPx, 0, 2 * Math.PI);
      context.fill();
      if (strokeWidth === 0) return;
      context.globalAlpha = strokeOpacity;
      context.beginPath();
      context.arc(centerX, centerY, sharpPx + context.lineWidth / 2, 0, 2 * Math.PI);
      context.stroke();
    };
    for (const { xy } of chunks.map((chunk) => chunk.vertices())) {
      for (let i = 0; i < xy.length; i += 2) {
        const [x, y] = [xy[i]!, xy[i + 1]!];
        if (x >= 0 && x < extent && y >= 0 && y < extent) dot(x, y);
      }
    }
  },
};

function paintBlurred(context: SKRSContext2D, x: number, y: number, radiusPx: number, colors: readonly Color[]): void {
  const gradient = context.createRadialGradient(x, y, 0, x, y, radiusPx);
  for (const [i, color] of colors.entries()) gradient.addColorStop(i / (colors.length - 1), color.toString());
  context.fillStyle = gradient;
  context.globalAlpha = 1;
  context.beginPath();
  context.arc(x, y, radiusPx, 0, 2 * Math.PI);
  context.fill();
}

/** Draws layers of type `circle`. A circle is drawn completely by the tile that contains its centre. */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { VectorPainter } from './painter.js';
import type { Translate } from './tile-canvas.js';

export const circlePainter: VectorPainter = {
  properties: [
    ...['circle-color', 'circle-opacity', 'circle-radius'],
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
    const visible = canvas.visible(radius + strokeWidth, translate);

    // In device pixels from the corner of the visible part: a tile unit may be thousands of them.
    canvas.useTileUnits(translate, unitPx, [visible.minX, visible.minY]);
    context.fillStyle = paint<Color>('circle-color').toString();
    context.strokeStyle = paint<Color>('circle-stroke-color').toString();
    context.lineWidth = strokeWidth * unitPx;
    const dot = (x: number, y: number) => {
      if (x < visible.minX || x > visible.maxX || y < visible.minY || y > visible.maxY) return;
      const [centerX, centerY] = [(x - visible.minX) * unitPx, (y - visible.minY) * unitPx];
      context.globalAlpha = opacity;
      context.beginPath();
      context.arc(centerX, centerY, radius * unitPx, 0, 2 * Math.PI);
      context.fill();
      if (strokeWidth === 0) return;
      context.globalAlpha = strokeOpacity;
      context.beginPath();
      context.arc(centerX, centerY, (radius + strokeWidth / 2) * unitPx, 0, 2 * Math.PI);
      context.stroke();
    };
    for (const { xy } of chunks.flatMap((chunk) => chunk.shapes.map((shape) => shape.coordinates()))) {
      for (let i = 0; i < xy.length; i += 2) {
        const [x, y] = [xy[i]!, xy[i + 1]!];
        if (x >= 0 && x < extent && y >= 0 && y < extent) dot(x, y);
      }
    }
  },
};

/** Draws layers of type `background`, and decides whether a map is dark. */

import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { CompiledStyle, StyleLayer } from '../style/compile.js';
import type { Frame } from './frame.js';
import { patternAt, repeated } from './pattern.js';

export function paintBackground(frame: Frame, layer: StyleLayer): void {
  const { canvas, context, view } = frame;
  const image = patternAt(frame, layer, 'background-pattern');
  if (image === 'missing') return;
  context.save();
  context.resetTransform();
  context.globalAlpha = layer.property<number>('background-opacity').at(view.zoom);
  context.fillStyle =
    image === null ? layer.property<Color>('background-color').at(view.zoom).toString() : repeated(frame, image);
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.restore();
}

/**
 * Returns whether a map is dark: less bright than the middle between black and white, with the weights of sRGB. The
 * topmost background counts that is more than half opaque. A map without one is white.
 */
export function isDarkStyle({ layers }: CompiledStyle, zoom: number): boolean {
  const background = layers.findLast(
    (layer) => layer.type === 'background' && layer.isVisible(zoom) && opacityOf(layer, zoom) > 0.5,
  );
  if (!background) return false;
  const { r, g, b } = background.property<Color>('background-color').at(zoom);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.5;
}

const opacityOf = (layer: StyleLayer, zoom: number): number =>
  layer.property<number>('background-opacity').at(zoom) * layer.property<Color>('background-color').at(zoom).a;

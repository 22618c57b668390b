/** Draws layers of type `background`, and decides whether a map is dark. */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { SpriteImage } from '../sprites/sprite-image.js';
import type { CompiledStyle, StyleLayer } from '../style/compile.js';
import { type Frame, inDevice } from './frame.js';
import { patternAt, repeated } from './pattern.js';
import { plainInk } from './plain.js';

/** Paints the whole frame. Paints nothing when the image of its pattern is missing. */
export function paintBackground(frame: Frame, layer: StyleLayer): void {
  const { zoom } = frame.view;
  const image = patternAt(frame, layer, 'background-pattern');
  if (image === 'missing') return;
  const opacity = layer.property<number>('background-opacity').at(zoom);
  if (image === null) paintPlain(frame, layer.property<Color>('background-color').at(zoom), opacity);
  else paintPattern(frame, image, opacity);
}

function paintPlain(frame: Frame, color: Color, opacity: number): void {
  const { surface, parts } = frame;
  const { bitmap, width, area } = surface;
  const ink = plainInk(color, opacity);
  const areas = parts ? inDevice(frame, parts) : [area];
  for (const { minX, minY, maxX, maxY } of areas) {
    for (let y = minY; y < maxY; y++) bitmap.paint(y * width + minX, y * width + maxX, ink);
  }
}

function paintPattern(frame: Frame, image: SpriteImage, opacity: number): void {
  const { surface } = frame;
  const { context } = surface;
  context.save();
  context.resetTransform();
  context.globalAlpha = opacity;
  context.fillStyle = repeated(frame, image);
  context.fillRect(0, 0, surface.width, surface.height);
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
